#include "revision/find/actor_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/fake_language_model.h"
#include "tests/clients/count_tokens.h"
#include "tests/mcts/toy_environment.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

class ActorVerifierTest : public ::testing::Test {
 protected:
  Result<StepJudgement> Judge(const std::string& step) {
    return ActorVerifier(tree_, states_, model_, prompt_, options_, RandomStream(7))
        .Judge({}, At(tree_, step));
  }

  const Tree tree_ = HandTree({{"a b c", 0}, {"a d e", 0.75}, {"a d f", 0.5}, {"a b g", 0.25}});
  const ToyFamily family_;
  const StateMap states_{tree_, family_};
  const JudgementPrompt prompt_{"[user]\n{log}|{action}|{observation}"};
  JudgeOptions options_;
  FakeLanguageModel model_{{"No.\nJudgement: Bad"}};
};

TEST_F(ActorVerifierTest, AsksTheModelAboutTheStep) {
  EXPECT_EQ(Judge("a b"), (StepJudgement{Judgement::kBad, "No.\nJudgement: Bad", true}));
  ASSERT_EQ(model_.calls(), 1);
  EXPECT_EQ(model_.prompts()[0], prompt_.Query(tree_, At(tree_, "a b")));
}

TEST_F(ActorVerifierTest, ARefusedStepIsBadWithoutAQuestion) {
  const Tree tree = WithRefusals(HandTree({{"a stuck b", 0}}));
  const StateMap states(tree, family_);
  const auto judge = [&](const std::string& step) {
    return ActorVerifier(tree, states, model_, prompt_, options_, RandomStream(7))
        .Judge({}, At(tree, step));
  };
  EXPECT_EQ(judge("a stuck"), (StepJudgement{Judgement::kBad, std::string(kRefusedVerdict), true}));
  EXPECT_EQ(model_.calls(), 0);
  EXPECT_TRUE(judge("a stuck b"));
  EXPECT_EQ(model_.calls(), 1);
  options_.refusals = true;
  EXPECT_EQ(judge("a stuck")->reasons, "No.\nJudgement: Bad");
  EXPECT_EQ(model_.calls(), 2);
}

TEST_F(ActorVerifierTest, TheSearchsEvidenceIsShownWhereAskedFor) {
  options_.evidence = true;
  EXPECT_TRUE(Judge("a b"));
  EXPECT_THAT(
      model_.prompts()[0][0].content,
      HasSubstr("went on behind this step, 2 ended, the best with a reward of 0.25; of those that "
                "took another action in its place, 2 ended, the best with a reward of 0.75."));
  EXPECT_TRUE(Judge("a"));
  EXPECT_THAT(model_.prompts()[1][0].content,
              HasSubstr("took another action in its place, none ended."));
}

TEST_F(ActorVerifierTest, AnErrorOfTheModelIsAnError) {
  model_.FailAt(0, {ErrorKind::kTimeout, "slow"});
  EXPECT_EQ(Judge("a").error().kind, ErrorKind::kTimeout);
}

TEST_F(ActorVerifierTest, OldTurnsGiveWayWhereTheContextIsShort) {
  const auto whole = CountTokens(model_, prompt_.Query(tree_, At(tree_, "a b c")));
  options_.max_context = options_.max_new_tokens + static_cast<int>(whole) - 1;
  EXPECT_TRUE(Judge("a b c"));
  EXPECT_EQ(model_.prompts()[0], prompt_.Query(tree_, At(tree_, "a b c"), 1));
}

TEST_F(ActorVerifierTest, TheModelsOwnLimitCountsToo) {
  model_.FailAt(0, {ErrorKind::kContextLength, "too long"});
  EXPECT_TRUE(Judge("a b c"));
  EXPECT_EQ(model_.prompts()[1], prompt_.Query(tree_, At(tree_, "a b c"), 1));
}

TEST_F(ActorVerifierTest, AStepThatNeverFitsIsAnError) {
  options_.max_context = options_.max_new_tokens + 1;
  const Result<StepJudgement> judged = Judge("a b c");
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().kind, ErrorKind::kContextLength);
  EXPECT_THAT(judged.error().message, HasSubstr("--max_context"));
  EXPECT_EQ(model_.calls(), 0);
}

TEST_F(ActorVerifierTest, WithoutALimitNothingIsCut) {
  options_.max_context = 0;
  EXPECT_TRUE(Judge("a b c"));
  EXPECT_EQ(model_.prompts()[0], prompt_.Query(tree_, At(tree_, "a b c")));
}

}  // namespace
}  // namespace agentr
