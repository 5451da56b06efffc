#include "revision/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LeafPathsTest, EndedLeavesWithTheirAverageValue) {
  Tree tree = HandTree({{"a b", 1}, {"a c", 0.25, End::kDepth}, {"d", 0, End::kDisaster}});
  const int visited = At(tree, "a b");
  tree.Restore(visited, 4, 3);
  EXPECT_THAT(LeafPaths(tree), ElementsAre(LeafPath{visited, 0.75}, LeafPath{At(tree, "a c"), 0.25},
                                           LeafPath{At(tree, "d"), 0}));
}

TEST(LeafPathsTest, WithoutVisitsTheRewardCounts) {
  Tree tree = HandTree({{"a", 0.5}});
  tree.Restore(1, 0, 0);
  EXPECT_THAT(LeafPaths(tree), ElementsAre(LeafPath{1, 0.5}));
}

TEST(LeafPathsTest, ATreeOfItsRootAloneHasNone) { EXPECT_THAT(LeafPaths(HandTree({})), IsEmpty()); }

TEST(LeafPathsTest, NodesThatDidNotEndAreNone) {
  Tree tree = HandTree({{"a", 1}});
  tree.Add(0, Node{});
  EXPECT_EQ(LeafPaths(tree).size(), 1U);
}

TEST(AncestorTest, IsTheLastSharedNode) {
  const Tree tree = HandTree({{"a b c", 1}, {"a b d e f", 0}, {"g", 0}});
  EXPECT_EQ(DeepestCommonAncestor(tree, At(tree, "a b c"), At(tree, "a b d e f")), At(tree, "a b"));
  EXPECT_EQ(DeepestCommonAncestor(tree, At(tree, "a b d e f"), At(tree, "g")), 0);
  EXPECT_EQ(DeepestCommonAncestor(tree, At(tree, "a b"), At(tree, "a b c")), At(tree, "a b"));
}

TEST(BestBelowTest, IsTheBestEndThatWasFound) {
  const Tree tree = HandTree({{"a b", 0.5}, {"a c", 1}, {"d e", 0}});
  const std::vector<double> best = BestBelow(tree);
  const auto of = [&](const std::string& actions) {
    return best[static_cast<size_t>(At(tree, actions))];
  };
  EXPECT_EQ(of(""), 1);
  EXPECT_EQ(of("a"), 1);
  EXPECT_EQ(of("a b"), 0.5);
  EXPECT_EQ(of("d"), 0);
  EXPECT_THAT(BestBelow(HandTree({})), ElementsAre(-1));
}

}  // namespace
}  // namespace agentr
