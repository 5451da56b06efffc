#include "mcts/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using testing::ElementsAre;

Tree SmallTree() {
  return Tree({"toy", 7, "model", "hash", "{}"}, {{"user", "Play."}, {"assistant", "Ok."}},
              "You see a door.");
}

TEST(TreeTest, BeginsWithTheRoot) {
  const Tree tree = SmallTree();
  EXPECT_EQ(tree.size(), 1);
  EXPECT_EQ(tree.root().parent, -1);
  EXPECT_EQ(tree.root().depth, 0);
  EXPECT_EQ(tree.root().observation, "You see a door.");
  EXPECT_FALSE(tree.root().terminal);
  EXPECT_EQ(tree.origin().task_id, 7);
}

TEST(TreeTest, AddLinksParentAndChildren) {
  Tree tree = SmallTree();
  const int a = tree.Add(0, Turn("a", "A"));
  const int b = tree.Add(0, Turn("b", "B"));
  const int aa = tree.Add(a, Turn("aa", "AA"));
  EXPECT_THAT(tree.root().children, ElementsAre(a, b));
  EXPECT_THAT(tree.node(a).children, ElementsAre(aa));
  EXPECT_EQ(tree.node(aa).parent, a);
  EXPECT_EQ(tree.node(aa).depth, 2);
  EXPECT_THAT(tree.Path(aa), ElementsAre(0, a, aa));
  EXPECT_THAT(tree.Path(0), ElementsAre(0));
}

TEST(TreeTest, OnlyEndedChildrenAreTerminalFromTheStart) {
  Tree tree = SmallTree();
  for (const End end : {End::kDone, End::kDisaster, End::kDepth}) {
    EXPECT_TRUE(tree.node(tree.Add(0, Turn("x", "X", 0, end))).terminal);
  }
  EXPECT_FALSE(tree.node(tree.Add(0, Turn("x", "X", 0.5))).terminal);
}

TEST(TreeTest, BackUpCountsTheLeafOnItsWayToTheRoot) {
  Tree tree = SmallTree();
  const int a = tree.Add(0, Turn("a", "A"));
  const int b = tree.Add(0, Turn("b", "B"));
  const int good = tree.Add(a, Turn("good", "G", 1, End::kDone));
  const int half = tree.Add(a, Turn("half", "H", 0.5, End::kDone));
  tree.BackUp(good);
  tree.BackUp(half);
  EXPECT_EQ(tree.node(good).visits, 1);
  EXPECT_EQ(tree.node(good).value, 1);
  EXPECT_EQ(tree.node(a).visits, 2);
  EXPECT_EQ(tree.node(a).value, 1.5);
  EXPECT_EQ(tree.root().visits, 2);
  EXPECT_EQ(tree.root().value, 1.5);
  EXPECT_EQ(tree.node(b).visits, 0);
  EXPECT_TRUE(tree.node(a).terminal);
  EXPECT_FALSE(tree.root().terminal) << "b is still open";
}

TEST(TreeTest, TheLastClosedChildClosesAllAncestors) {
  Tree tree = SmallTree();
  const int a = tree.Add(0, Turn("a", "A"));
  const int aa = tree.Add(a, Turn("aa", "AA"));
  const int leaf = tree.Add(aa, Turn("leaf", "L", 0, End::kDone));
  tree.BackUp(leaf);
  EXPECT_TRUE(tree.node(aa).terminal);
  EXPECT_TRUE(tree.node(a).terminal);
  EXPECT_TRUE(tree.root().terminal);
}

TEST(TreeTest, RefreshTerminalLeavesANodeWithoutChildrenOpen) {
  Tree tree = SmallTree();
  tree.RefreshTerminal(0);
  EXPECT_FALSE(tree.root().terminal);
}

TEST(TreeTest, ConversationTellsThePath) {
  Tree tree = SmallTree();
  const int a = tree.Add(0, Turn("a", "A"));
  tree.Add(0, Turn("other", "O"));
  const int b = tree.Add(a, Turn("b", "B"));
  EXPECT_THAT(tree.Conversation(0),
              ElementsAre(Message{"user", "Play."}, Message{"assistant", "Ok."},
                          Message{"user", "You see a door."}));
  EXPECT_THAT(tree.Conversation(b),
              ElementsAre(Message{"user", "Play."}, Message{"assistant", "Ok."},
                          Message{"user", "You see a door."},
                          Message{"assistant", ToyModel::Response("a")}, Message{"user", "A"},
                          Message{"assistant", ToyModel::Response("b")}, Message{"user", "B"}));
}

TEST(TreeTest, ConversationDropsTheOldestTurnsAfterTheFirstObservation) {
  Tree tree = SmallTree();
  const int a = tree.Add(0, Turn("a", "A"));
  Node cut = Turn("b", "B");
  cut.dropped_turns = 1;
  const int b = tree.Add(a, cut);
  const auto expected = testing::ElementsAre(
      Message{"user", "Play."}, Message{"assistant", "Ok."}, Message{"user", "You see a door."},
      Message{"assistant", ToyModel::Response("b")}, Message{"user", "B"});
  EXPECT_THAT(tree.Conversation(b, 1), expected);
  EXPECT_THAT(tree.SeenConversation(b), expected);
  EXPECT_EQ(tree.Conversation(b, 2).size(), 3) << "nothing but instruction and first observation";
}

TEST(TreeTest, RestoreSetsTheCountersOfOneNode) {
  Tree tree = SmallTree();
  const int a = tree.Add(0, Turn("a", "A"));
  tree.Restore(a, 3, 1.5);
  EXPECT_EQ(tree.node(a).visits, 3);
  EXPECT_EQ(tree.node(a).value, 1.5);
  EXPECT_EQ(tree.root().visits, 0);
}

}  // namespace
}  // namespace agentr
