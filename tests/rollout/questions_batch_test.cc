#include "rollout/questions_batch.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tasks/questions/rule_oracle.h"

namespace agentr {
namespace {

TEST(QuestionsBatch, RewardsAreThePapers) {
  QuestionsBatch batch({.size = 3, .seed = 1});
  const std::string name = WordTable::BuiltIn().words()[batch.word(1)].aliases.front();
  const std::string guess = "Is it a " + name + "?";
  const std::vector<std::string_view> first = {"Is it alive?", "Is it alive?", "wait"};
  std::span<const BatchStep> steps = batch.Step(first);
  EXPECT_EQ(steps[0].reward, -1);
  EXPECT_EQ(steps[1].reward, -1);
  EXPECT_EQ(steps[2].reward, 0) << "no question";
  EXPECT_EQ(batch.Observation(2), "Questions:\n");
  const std::vector<std::string_view> second = {"Is it alive?", guess, "Is it alive?"};
  steps = batch.Step(second);
  EXPECT_EQ(steps[1].reward, 0);
  EXPECT_TRUE(steps[1].done);
  EXPECT_FALSE(steps[1].truncated);
  EXPECT_EQ(steps[1].observation.substr(steps[1].observation.size() - 5), "Yes.\n");
  EXPECT_EQ(batch.Observation(1), "Questions:\n") << "the next game";
  EXPECT_FALSE(steps[0].done);
}

TEST(QuestionsBatch, EndsAfterTwentyQuestionsAndDrawsNewObjects) {
  QuestionsBatch batch({.size = 2, .seed = 9});
  const std::vector<std::string_view> actions(2, "Does it glow?");
  std::set<size_t> words;
  for (int turn = 1; turn <= 100; ++turn) {
    words.insert(batch.word(0));
    const BatchStep step = batch.Step(actions)[0];
    EXPECT_EQ(step.reward, -1);
    ASSERT_EQ(step.done, turn % 20 == 0) << turn;
    EXPECT_EQ(step.truncated, step.done);
  }
  EXPECT_GT(words.size(), 2U);
  QuestionsBatch again({.size = 2, .seed = 9});
  QuestionsBatch other({.size = 2, .seed = 10});
  EXPECT_EQ(again.word(0), QuestionsBatch({.size = 2, .seed = 9}).word(0));
  EXPECT_NE(std::pair(again.word(0), again.word(1)), std::pair(other.word(0), other.word(1)));
  const QuestionsBatch many({.size = 16});
  std::set<size_t> drawn;
  for (size_t i = 0; i < many.size(); ++i) drawn.insert(many.word(i));
  EXPECT_GT(drawn.size(), 8U) << "each slot draws for itself";
}

}  // namespace
}  // namespace agentr
