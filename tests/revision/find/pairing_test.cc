#include "revision/find/pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/error.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "good/bad@ancestor", each by the actions that lead there.
std::string Named(const Tree& tree, const PathPair& pair) {
  const auto actions = [&](int leaf) {
    std::string text;
    for (const int node : tree.Path(leaf)) text += tree.node(node).action;
    return text;
  };
  return actions(pair.good.leaf) + "/" + actions(pair.bad.leaf) + "@" + actions(pair.ancestor);
}

std::vector<std::string> Pairs(const Tree& tree, Pairing pairing,
                               const ValueThresholds& choice = {}) {
  std::vector<std::string> names;
  for (const PathPair& pair : PairPaths(tree, LeafPaths(tree), choice, pairing)) {
    names.push_back(Named(tree, pair));
  }
  return names;
}

TEST(ChoiceTest, AlphaItselfIsGoodEnough) {
  EXPECT_TRUE(IsGood({1, 1.0}, {.alpha = 1.0}));
  EXPECT_FALSE(IsGood({1, 0.999}, {.alpha = 1.0}));
  EXPECT_TRUE(IsGood({1, 2.1 / 3}, {.alpha = 0.7}));  // 0.7000000000000001 or just below
}

TEST(ChoiceTest, BetaItselfIsNotBadEnough) {
  const ValueThresholds choice{.alpha = 0.5, .beta = 0.2};
  EXPECT_FALSE(IsBadBeside({1, 0.7}, {2, 0.9}, choice));  // 0.9 - 0.7 > 0.2 in doubles
  EXPECT_FALSE(IsBadBeside({1, 0.5}, {2, 0.7}, choice));  // and this is below
  EXPECT_FALSE(IsBadBeside({1, 0.6}, {2, 0.8}, choice));  // 0.8 - 0.2 > 0.6 in doubles
  EXPECT_TRUE(IsBadBeside({1, 0.69}, {2, 0.9}, choice));
}

TEST(ChoiceTest, InATreeTheBestPathDecidesToo) {
  const std::vector<LeafPath> paths = {{1, 0.75}, {2, 0.6}, {3, 0}};
  EXPECT_EQ(InTree({.alpha = 0.5}, paths, 1).alpha, 0.75);
  EXPECT_DOUBLE_EQ(InTree({.alpha = 0.5, .margin = 0.1}, paths, 1).alpha, 0.65);
  EXPECT_EQ(InTree({.alpha = 0.5, .margin = 1}, paths, 1).alpha, 0.5);
  EXPECT_EQ(InTree({.alpha = 0.8}, paths, 1).alpha, 0.8);
  EXPECT_EQ(InTree({.alpha = 0.5}, paths, 0.7).alpha, 0.7) << "0.7 is already success";
  EXPECT_EQ(InTree({.alpha = 0.5}, {}, 1).alpha, 0.5);
}

TEST(PairingTest, AllPairsEveryGoodPathWithEveryBadOne) {
  const Tree tree = HandTree({{"a b", 1}, {"a c", 0}, {"d", 0.75}, {"e", 0.6}});
  EXPECT_THAT(Pairs(tree, Pairing::kAll),
              ElementsAre("ab/ac@a", "d/ac@", "e/ac@", "ab/d@", "ab/e@"));
}

TEST(PairingTest, SiblingsPartAsLateAsPossible) {
  const Tree tree = HandTree({{"a b", 1}, {"a c", 0}, {"d", 0.75}, {"e", 0.6}});
  EXPECT_THAT(Pairs(tree, Pairing::kSiblings), ElementsAre("ab/ac@a", "ab/d@", "ab/e@"));
}

TEST(PairingTest, SiblingsWithTheSameAncestorAreAllTaken) {
  const Tree tree = HandTree({{"a b", 1}, {"a c d", 1}, {"a e f g", 0}});
  EXPECT_THAT(Pairs(tree, Pairing::kSiblings), ElementsAre("ab/aefg@a", "acd/aefg@a"));
}

TEST(PairingTest, AlphaOneKeepsPerfectPaths) {
  const Tree tree = HandTree({{"a", 1}, {"b", 0.9}, {"c", 0}});
  EXPECT_THAT(Pairs(tree, Pairing::kAll, {.alpha = 1.0}), ElementsAre("a/c@"));
}

TEST(PairingTest, TiesAreNotBad) {
  EXPECT_THAT(Pairs(HandTree({{"a", 1}, {"b", 1}, {"c", 0.8}}), Pairing::kAll), IsEmpty());
}

TEST(PairingTest, ADisasterIsABadPath) {
  const Tree tree = HandTree({{"a", 1}, {"b", 0, End::kDisaster}, {"c", 0, End::kDepth}});
  EXPECT_THAT(Pairs(tree, Pairing::kSiblings), ElementsAre("a/b@", "a/c@"));
}

TEST(PairingTest, OneLeafOrNoneGivesNoPair) {
  EXPECT_THAT(Pairs(HandTree({}), Pairing::kAll), IsEmpty());
  EXPECT_THAT(Pairs(HandTree({{"a", 1}}), Pairing::kAll), IsEmpty());
  EXPECT_THAT(Pairs(HandTree({{"a", 0}}), Pairing::kSiblings), IsEmpty());
}

TEST(PairingTest, GoodPathsAlone) {
  const Tree tree = HandTree({{"a", 1}, {"b", 0}, {"c", 0.5}});
  const std::vector<PathPair> alone = GoodAlone(LeafPaths(tree), {});
  ASSERT_EQ(alone.size(), 2U);
  EXPECT_EQ(alone[0], (PathPair{{1, 1}, {-1, 0}, 1}));
  EXPECT_EQ(alone[1].good.leaf, At(tree, "c"));
}

// Three good paths; five bad ones with three mistakes, "b" twice with the same actions.
class LimitTest : public ::testing::Test {
 protected:
  const Tree tree_ = HandTree(
      {{"g", 1}, {"h", 1}, {"a i", 1}, {"b", 0}, {"b", 0}, {"c d", 0}, {"c e", 0}, {"a d", 0}});
  const std::vector<PathPair> all_ = PairPaths(tree_, LeafPaths(tree_), {}, Pairing::kAll);

  std::vector<PathPair> Limit(size_t most, uint64_t seed = 0) {
    return LimitPairs(tree_, all_, most, RandomStream(seed));
  }

  // The action of the first step behind the ancestor.
  std::string Mistake(const PathPair& pair) const {
    const auto depth = static_cast<size_t>(tree_.node(pair.ancestor).depth);
    return tree_.node(tree_.Path(pair.bad.leaf)[depth + 1]).action;
  }
};

TEST_F(LimitTest, EnoughRoomKeepsAll) {
  ASSERT_EQ(all_.size(), 15U);
  EXPECT_EQ(Limit(0), all_);
  EXPECT_EQ(Limit(15), all_);
}

TEST_F(LimitTest, DifferentMistakesAndGoodPathsComeFirst) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::set<std::string> mistakes;
    std::set<int> good;
    const std::vector<PathPair> pairs = Limit(4, seed);
    ASSERT_EQ(pairs.size(), 4U);
    for (const PathPair& pair : pairs) {
      mistakes.insert(Mistake(pair));
      good.insert(pair.good.leaf);
    }
    EXPECT_EQ(mistakes, (std::set<std::string>{"a", "b", "c", "d"}));
    EXPECT_GE(good.size(), 2U);
  }
}

// "a d" makes the mistake "a" with two good paths, and "d" with its sibling: 2 * 3 + 2 + 1.
TEST_F(LimitTest, NoMistakeComesTwiceWithAGoodPathBeforeAllHaveComeOnce) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::set<std::pair<std::string, int>> seen;
    for (const PathPair& pair : Limit(9, seed)) {
      EXPECT_TRUE(seen.emplace(Mistake(pair), pair.good.leaf).second) << "seed " << seed;
    }
  }
}

TEST_F(LimitTest, ChosenPairsKeepTheirOrder) {
  const std::vector<PathPair> pairs = Limit(7, 5);
  ASSERT_EQ(pairs.size(), 7U);
  size_t at = 0;
  for (const PathPair& pair : pairs) {
    while (at < all_.size() && !(all_[at] == pair)) ++at;
    ASSERT_LT(at, all_.size());
  }
}

TEST_F(LimitTest, TheSeedDecides) {
  EXPECT_EQ(Limit(5, 1), Limit(5, 1));
  std::set<int> seen;
  for (uint64_t seed = 0; seed < 10; ++seed) seen.insert(Limit(1, seed).front().bad.leaf);
  EXPECT_GT(seen.size(), 1U);
}

}  // namespace
}  // namespace agentr
