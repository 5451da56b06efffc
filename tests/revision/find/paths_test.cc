#include "revision/find/paths.h"

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

}  // namespace
}  // namespace agentr
