#include "mcts/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

constexpr double kC = 0.25;

// Adds a child of the root with these counters.
int AddVisited(Tree& tree, int visits, double value, End end = End::kNone) {
  const int child = tree.Add(0, Turn("x", "X", 0, end));
  tree.Restore(child, visits, value);
  return child;
}

Tree RootWithVisits(int visits) {
  Tree tree({}, {}, "start");
  tree.Restore(0, visits, 0);
  return tree;
}

TEST(SelectionScoreTest, IsUcb1) {
  EXPECT_NEAR(SelectionScore(1, 2, 8, kC), 0.75491674754, 1e-10);
  EXPECT_NEAR(SelectionScore(0, 1, 4, kC), 0.29435250563, 1e-10);
  EXPECT_EQ(SelectionScore(3, 4, 100, 0), 0.75);
  EXPECT_EQ(SelectionScore(0.5, 1, 1, kC), 0.5) << "ln 1 = 0";
}

TEST(SelectionScoreTest, IsInfiniteForUnvisitedChildren) {
  EXPECT_TRUE(std::isinf(SelectionScore(0, 0, 5, kC)));
  EXPECT_TRUE(std::isinf(SelectionScore(0, 0, 0, 0)));
}

TEST(SelectChildTest, TakesTheHighestScore) {
  Tree tree = RootWithVisits(4);
  RandomStream random(1);
  const int good = AddVisited(tree, 2, 1);
  const int rare = AddVisited(tree, 1, 0);
  AddVisited(tree, 1, 1, End::kDone);
  // 0.708 against 0.294; with c = 2 it is 2.165 against 2.355.
  EXPECT_EQ(SelectChild(tree, 0, kC, random), good);
  EXPECT_EQ(SelectChild(tree, 0, 2.0, random), rare);
}

TEST(SelectChildTest, TakesUnvisitedChildrenFirst) {
  Tree tree = RootWithVisits(3);
  RandomStream random(1);
  AddVisited(tree, 3, 3);
  const int fresh = AddVisited(tree, 0, 0);
  EXPECT_EQ(SelectChild(tree, 0, kC, random), fresh);
}

TEST(SelectChildTest, NeverTakesTerminalChildren) {
  Tree tree = RootWithVisits(3);
  RandomStream random(1);
  AddVisited(tree, 1, 1, End::kDone);
  AddVisited(tree, 0, 0, End::kDepth);
  const int open = AddVisited(tree, 2, 0);
  EXPECT_EQ(SelectChild(tree, 0, kC, random), open);
}

TEST(SelectChildTest, FindsNothingWithoutOpenChildren) {
  Tree tree = RootWithVisits(1);
  RandomStream random(1);
  EXPECT_EQ(SelectChild(tree, 0, kC, random), -1);
  AddVisited(tree, 1, 1, End::kDone);
  AddVisited(tree, 1, 0, End::kDisaster);
  EXPECT_EQ(SelectChild(tree, 0, kC, random), -1);
}

TEST(SelectChildTest, DrawsOnlyAtTies) {
  Tree tree = RootWithVisits(3);
  RandomStream random(5);
  RandomStream untouched(5);
  AddVisited(tree, 1, 0);
  AddVisited(tree, 2, 1);
  AddVisited(tree, 0, 0, End::kDone);
  SelectChild(tree, 0, kC, random);
  EXPECT_EQ(random.Next(), untouched.Next()) << "nothing was drawn";
  AddVisited(tree, 2, 1);
  SelectChild(tree, 0, kC, random);
  EXPECT_NE(random.Next(), untouched.Next()) << "the tie was drawn";
}

// Chi-square over seeds; 13.8 is exceeded once in a thousand times with two degrees of freedom.
void ExpectUniformTies(int visits, double value) {
  Tree tree = RootWithVisits(9);
  for (int i = 0; i < 3; ++i) AddVisited(tree, visits, value);
  AddVisited(tree, 3, 0);
  AddVisited(tree, 3, 3, End::kDone);
  constexpr int kSeeds = 3000;
  std::vector<int> drawn(static_cast<size_t>(tree.size()));
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    RandomStream random(seed);
    ++drawn[static_cast<size_t>(SelectChild(tree, 0, kC, random))];
  }
  double chi_square = 0;
  for (size_t child = 1; child <= 3; ++child) {
    chi_square += std::pow(drawn[child] - kSeeds / 3.0, 2) / (kSeeds / 3.0);
  }
  EXPECT_LT(chi_square, 13.8) << testing::PrintToString(drawn);
}

TEST(SelectChildTest, DrawsUniformlyAmongUnvisitedChildren) { ExpectUniformTies(0, 0); }

TEST(SelectChildTest, DrawsUniformlyAmongEqualScores) { ExpectUniformTies(2, 1); }

// root ─ a ─ a1 [reward 1]          Backing up a1 and b1 in turn, worked by hand with c = 0.25.
//      │   └ a2
//      └ b ─ b1 [reward 0]
//          └ b2
TEST(SelectChildTest, SmallTreeWorkedByHand) {
  Tree tree({}, {}, "start");
  RandomStream random(1);
  const int a = tree.Add(0, Turn("a", "A"));
  const int b = tree.Add(0, Turn("b", "B"));
  const int a1 = tree.Add(a, Turn("a1", "", 1, End::kDone));
  const int a2 = tree.Add(a, Turn("a2", ""));
  tree.BackUp(a1);
  EXPECT_EQ(SelectChild(tree, 0, kC, random), b) << "b is unvisited";
  const int b1 = tree.Add(b, Turn("b1", "", 0, End::kDone));
  const int b2 = tree.Add(b, Turn("b2", ""));
  tree.BackUp(b1);
  // root: 2 visits; a: 1 + 0.25 sqrt(ln 2) = 1.208, b: 0.208.
  EXPECT_EQ(SelectChild(tree, 0, kC, random), a);
  EXPECT_EQ(SelectChild(tree, a, kC, random), a2) << "a1 is terminal";
  tree.BackUp(tree.Add(a2, Turn("a21", "", 0, End::kDepth)));
  EXPECT_TRUE(tree.node(a).terminal);
  EXPECT_EQ(tree.node(a).visits, 2);
  EXPECT_EQ(tree.node(a).value, 1);
  // a has the better score, 0.5 + 0.25 sqrt(ln 3 / 2), but is closed.
  EXPECT_EQ(SelectChild(tree, 0, kC, random), b);
  EXPECT_EQ(SelectChild(tree, b, kC, random), b2);
  tree.BackUp(tree.Add(b2, Turn("b21", "", 0.5, End::kDone)));
  EXPECT_EQ(SelectChild(tree, 0, kC, random), -1);
  EXPECT_TRUE(tree.root().terminal);
  EXPECT_EQ(tree.root().visits, 4);
  EXPECT_EQ(tree.root().value, 1.5);
}

}  // namespace
}  // namespace agentr
