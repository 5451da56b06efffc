#include "revision/find/rollout_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/fake_environment.h"
#include "clients/fake_language_model.h"
#include "tests/mcts/toy_environment.h"
#include "tests/mcts/toy_model.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

// "g" ends with 1, but with 0 once "x" was done.
StepResult RolloutWorld(int /*task*/, const std::vector<std::string>& actions) {
  std::string saw = "saw";
  bool lost = false;
  for (const std::string& action : actions) {
    saw += " " + action;
    lost = lost || action == "x";
  }
  if (actions.empty()) return {"Goal 3."};
  if (actions.back() == "g") return {saw, lost ? 0.0 : 1.0, true};
  return {saw};
}

class RolloutVerifierTest : public ::testing::Test {
 protected:
  FirstError Find(const std::string& bad, int continuations = 8) {
    const Tree tree = WithRefusals(HandTree({{"p g", 1}, {bad, 0, End::kDepth}}));
    const StateMap states(tree, family_);
    const PathPair pair = PairPaths(tree, LeafPaths(tree), {}, Pairing::kSiblings).front();
    SessionPool pool(environment_, 4);
    const std::atomic<bool> stop = false;
    Replayer replayer(3, family_, environment_, pool, stop);
    EXPECT_TRUE(replayer.Start());
    RolloutVerifier verifier(tree, states, family_, *policy, replayer,
                             {.continuations = continuations}, RandomStream(1));
    return verifier.Find(pair, 0.8).value();
  }

  const ToyFamily family_;
  FakeEnvironment environment_{true, RolloutWorld};
  FakeLanguageModel policy_{{"Action: g"}};
  LanguageModel* policy = &policy_;
};

TEST_F(RolloutVerifierTest, TheStepThatLosesTheGoalIsFoundByBisection) {
  for (const auto& [path, at] : std::vector<std::pair<std::string, int>>{
           {"p x b c d e", 1}, {"p a b x d e", 3}, {"p a b c d x", 5}}) {
    const FirstError error = Find(path);
    EXPECT_TRUE(error.found) << path;
    EXPECT_EQ(error.bad_steps, at) << path;
    EXPECT_THAT(error.steps.back().judged.reasons,
                AllOf(HasSubstr("8 of 8 continuations succeed"), HasSubstr("0 of 8")));
    EXPECT_EQ(error.steps.back().judged.values, (ValueChange{{8, 8}, {0, 8}}));
  }
}

TEST_F(RolloutVerifierTest, FewStatesArePlayedFrom) {
  Find("p a b c d e f h i j k l m n o q x");
  // The ancestor, and five of sixteen states; each continuation is one turn here.
  EXPECT_LE(policy_.calls(), 8 * 7);
}

TEST_F(RolloutVerifierTest, WithoutALossNothingIsFoundAndTheWholePathIsKept) {
  const FirstError error = Find("p a b c");
  EXPECT_FALSE(error.found);
  EXPECT_EQ(error.bad_steps, 3);
}

TEST_F(RolloutVerifierTest, WhatTheEnvironmentRefusedIsAnErrorUnlessAnEarlierStepIs) {
  for (const auto& [path, at] :
       std::vector<std::pair<std::string, int>>{{"p a stuck b x c", 2}, {"p x a stuck b c", 1}}) {
    const FirstError error = Find(path);
    EXPECT_TRUE(error.found) << path;
    EXPECT_EQ(error.bad_steps, at) << path;
  }
}

TEST_F(RolloutVerifierTest, APromptTooLongForTheModelLeavesOutTheOldestTurn) {
  policy_.FailAt(0, {ErrorKind::kContextLength, "too long"});
  EXPECT_TRUE(Find("p x c").found);
  const std::vector<std::vector<Message>> prompts = policy_.prompts();
  ASSERT_EQ(prompts[0].size(), prompts[1].size() + 2);
  EXPECT_EQ(prompts[1].back().content, "Goal 3.");
}

TEST_F(RolloutVerifierTest, ACutTurnEndsAContinuation) {
  ToyModel thinks({});
  thinks.finish_reason = "length";
  thinks.reply = [](std::span<const Message>, int) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"Thought: I take g"};
  };
  policy = &thinks;
  EXPECT_FALSE(Find("p x c").found);
  EXPECT_FALSE(thinks.prompts().empty());
  for (const std::vector<Message>& prompt : thinks.prompts()) {
    for (const Message& message : prompt) EXPECT_NE(message.content, "Thought: I take g");
  }
}

TEST_F(RolloutVerifierTest, TooFewContinuationsProveNothing) {
  EXPECT_FALSE(Find("p a x c", 1).found);
}

// (s + z^2/2n +- z sqrt(s(1-s)/n + z^2/4n^2)) / (1 + z^2/n), worked out by hand with z = 1.96.
TEST(ShareEstimateTest, IntervalsAreWilsons) {
  EXPECT_NEAR((ShareEstimate{8, 8}).low(), 0.6756, 1e-4);
  EXPECT_NEAR((ShareEstimate{8, 8}).high(), 1.0, 1e-12);
  EXPECT_NEAR((ShareEstimate{0, 8}).high(), 0.3244, 1e-4);
  EXPECT_NEAR((ShareEstimate{4, 8}).low(), 0.2152, 1e-4);
  EXPECT_NEAR((ShareEstimate{4, 8}).high(), 0.7848, 1e-4);
}

}  // namespace
}  // namespace agentr
