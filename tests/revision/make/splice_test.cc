#include "revision/make/splice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/fake_language_model.h"
#include "revision/find/choice.h"
#include "tests/clients/count_tokens.h"
#include "tests/mcts/toy_environment.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

const RevisionTurn kTurn = {"I was wrong.", "wait", "ok."};

// The first pair of the tree.
PathPair FirstPair(const Tree& tree) {
  return PairPaths(tree, LeafPaths(tree), {}, Pairing::kAll).front();
}

TEST(SpliceTest, PrefixBadStepsRevisionGoodPath) {
  const Tree tree = HandTree({{"p g h", 1}, {"p a b c", 0}});
  const Trajectory trajectory = HandSplice(tree, FirstPair(tree), 2, kTurn);
  EXPECT_EQ(Outline(trajectory), "=p -a -b ~wait +g +h");
  EXPECT_EQ(trajectory.instruction, tree.instruction());
  EXPECT_EQ(trajectory.first_observation, "Goal 3.");
  EXPECT_EQ(trajectory.turns[1].node, At(tree, "p a"));
  EXPECT_EQ(trajectory.turns[1].response, "Thought: I go on.\nAction: a");
  EXPECT_EQ(trajectory.turns[1].observation, "saw p a");
  EXPECT_EQ(trajectory.turns[3].node, -1);
  EXPECT_EQ(trajectory.turns[3].response, "Thought: I was wrong.\nAction: wait");
  EXPECT_EQ(trajectory.turns[3].observation, "ok.");
}

TEST(SpliceTest, NoSharedTurnsAndUnequalDepths) {
  const Tree tree = HandTree({{"g", 1}, {"a b c d e", 0}});
  EXPECT_EQ(Outline(HandSplice(tree, FirstPair(tree), 5, kTurn)), "-a -b -c -d -e ~wait +g");
}

TEST(SpliceTest, AGoodPathAloneIsAllGood) {
  const Tree tree = HandTree({{"p g", 1}});
  EXPECT_EQ(Outline(HandSplice(tree, GoodAlone(LeafPaths(tree), {}).front(), 0, kTurn)), "+p +g");
}

// "u- a+": the role of each message and whether it is trained, with a blank before each response.
std::string MaskOf(const Trajectory& trajectory) {
  std::string text;
  for (const RowMessage& m : RowMessages(trajectory)) {
    text += (m.role == "user" ? "u" : " a") + std::string(m.trained ? "+" : "-");
  }
  return text;
}

TEST(RowMessagesTest, TheRevisionTurnAndWhatFollowsAreTrained) {
  const Tree tree = HandTree({{"p g h", 1}, {"p a", 0}});
  Trajectory trajectory = HandSplice(tree, FirstPair(tree), 1, kTurn);
  //                             Ok.  p    a    wait g    h
  EXPECT_EQ(MaskOf(trajectory), "u- a-u- a-u- a-u- a+u- a+u- a+");
  trajectory.train_prefix = true;
  EXPECT_EQ(MaskOf(trajectory), "u- a-u- a+u- a-u- a+u- a+u- a+");
  trajectory.turns[0].refused = true;
  EXPECT_EQ(MaskOf(trajectory), "u- a-u- a-u- a-u- a+u- a+u- a+");
}

TEST(RowMessagesTest, OfAGoodPathAllTurnsAreTrainedButRefusedOnes) {
  const Tree tree = HandTree({{"p q g", 1}});
  Trajectory trajectory = HandSplice(tree, GoodAlone(LeafPaths(tree), {}).front(), 0, kTurn);
  trajectory.turns[1].refused = true;
  EXPECT_EQ(MaskOf(trajectory), "u- a-u- a+u- a-u- a+");
}

TEST(RowMessagesTest, WhatTheAgentDidNotSayIsNotTrained) {
  Tree tree = HandTree({{"p q g", 1}});
  Node again = tree.node(At(tree, "p q g"));
  again.slip = Slip{.said = "h"};
  const int slipped = tree.Add(At(tree, "p q"), again);
  const StateMap states(tree, ToyFamily());
  const Trajectory trajectory =
      Splice(tree, states, {.prefix = {}, .bad = {}, .good = {1, 2, slipped}}, kTurn);
  EXPECT_EQ(MaskOf(trajectory), "u- a-u- a+u- a+u- a-");
}

TEST(RowMessagesTest, TheReplyToTheLastTurnIsNotShown) {
  const Tree tree = HandTree({{"p g", 1}});
  const Trajectory trajectory = HandSplice(tree, GoodAlone(LeafPaths(tree), {}).front(), 0, kTurn);
  EXPECT_EQ(RowMessages(trajectory).back().role, "assistant");
  EXPECT_EQ(trajectory.turns.back().observation, "saw p g");
}

TEST(EstimateTokensTest, IsThatOfModelsThatDoNotTell) {
  const FakeLanguageModel model({"x"});
  const std::vector<Message> messages = {{"user", "12345"}, {"assistant", ""}, {"user", "1234"}};
  int64_t sum = 0;
  for (const Message& message : messages) sum += EstimateTokens(message.content);
  EXPECT_EQ(sum, CountTokens(model, messages));
}

class FitContextTest : public ::testing::Test {
 protected:
  static int64_t Tokens(const Trajectory& trajectory) {
    int64_t sum = 0;
    for (const RowMessage& m : RowMessages(trajectory)) sum += EstimateTokens(*m.content);
    return sum;
  }

  const Tree tree_ = HandTree({{"p q g", 1}, {"p q a", 0}});
  Trajectory trajectory_ = HandSplice(tree_, FirstPair(tree_), 1, kTurn);
};

TEST_F(FitContextTest, WhatFitsStays) {
  EXPECT_TRUE(FitContext(trajectory_, 0, Tokens(trajectory_)));
  EXPECT_EQ(trajectory_.dropped_turns, 0U);
  EXPECT_TRUE(FitContext(trajectory_, 0, 0));
  EXPECT_EQ(trajectory_.dropped_turns, 0U);
}

TEST_F(FitContextTest, TheOldestTurnsOfThePrefixAreLeftOut) {
  const size_t messages = RowMessages(trajectory_).size();
  EXPECT_TRUE(FitContext(trajectory_, 0, Tokens(trajectory_) - 1));
  EXPECT_EQ(trajectory_.dropped_turns, 1U);
  EXPECT_EQ(RowMessages(trajectory_).size(), messages - 2);
  EXPECT_EQ(*RowMessages(trajectory_)[2].content, "Goal 3.");
}

TEST_F(FitContextTest, BadStepsAndWhatFollowsStay) {
  EXPECT_FALSE(FitContext(trajectory_, 0, 20));
  EXPECT_EQ(trajectory_.dropped_turns, 2U);
}

TEST_F(FitContextTest, WhatTheModelDidNotSeeIsNotShown) {
  EXPECT_TRUE(FitContext(trajectory_, 1, 0));
  EXPECT_EQ(trajectory_.dropped_turns, 1U);
  EXPECT_TRUE(FitContext(trajectory_, 7, 0));
  EXPECT_EQ(trajectory_.dropped_turns, 2U);
}

TEST_F(FitContextTest, OfAGoodPathTheLastTurnStays) {
  Trajectory good = HandSplice(tree_, GoodAlone(LeafPaths(tree_), {}).front(), 0, kTurn);
  EXPECT_FALSE(FitContext(good, 0, 1));
  EXPECT_EQ(good.dropped_turns, 2U);
}

}  // namespace
}  // namespace agentr
