#include "games/game_batch.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "games/questions/city_table.h"
#include "games/questions/rule_oracle.h"

namespace agentr {
namespace {

TEST(GameBatch, RewardsAreThePapers) {
  auto batch = TwentyQuestionsBatch({.size = 3, .seed = 1});
  const std::string name = WordTable::BuiltIn().words()[batch.state(1).word].aliases.front();
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

TEST(GameBatch, EndsAfterTwentyQuestionsAndDrawsNewObjects) {
  auto batch = TwentyQuestionsBatch({.size = 2, .seed = 9});
  const std::vector<std::string_view> actions(2, "Does it glow?");
  std::set<size_t> words;
  for (int turn = 1; turn <= 100; ++turn) {
    words.insert(batch.state(0).word);
    const BatchStep step = batch.Step(actions)[0];
    EXPECT_EQ(step.reward, -1);
    ASSERT_EQ(step.done, turn % 20 == 0) << turn;
    EXPECT_EQ(step.truncated, step.done);
  }
  EXPECT_GT(words.size(), 2U);
  const auto again = TwentyQuestionsBatch({.size = 2, .seed = 9});
  const auto other = TwentyQuestionsBatch({.size = 2, .seed = 10});
  EXPECT_EQ(again.state(0).word, TwentyQuestionsBatch({.size = 2, .seed = 9}).state(0).word);
  EXPECT_NE(std::pair(again.state(0).word, again.state(1).word),
            std::pair(other.state(0).word, other.state(1).word));
  const auto many = TwentyQuestionsBatch({.size = 16});
  std::set<size_t> drawn;
  for (size_t i = 0; i < many.size(); ++i) drawn.insert(many.state(i).word);
  EXPECT_GT(drawn.size(), 8U) << "each slot draws for itself";
}

TEST(GameBatch, TheSubsetHasTenObjects) {
  const auto batch = TwentyQuestionsBatch(TwentyQuestionsSubset(200, 3));
  std::set<std::string> drawn;
  for (size_t i = 0; i < batch.size(); ++i) {
    drawn.insert(WordTable::BuiltIn().words()[batch.state(i).word].aliases.front());
  }
  const std::set<std::string> subset = {"football", "dog",   "banana", "truck", "pants",
                                        "computer", "piano", "chair",  "pen",   "scissors"};
  EXPECT_EQ(drawn, subset);
}

TEST(GameBatch, CitiesAreGuessedToo) {
  auto batch = GuessMyCityBatch({.size = 2, .seed = 4});
  const std::string guess =
      "Is it " + CityTable::BuiltIn().cities()[batch.state(0).word].city + "?";
  const std::vector<std::string_view> actions = {guess, "Is it in Asia?"};
  const std::span<const BatchStep> steps = batch.Step(actions);
  EXPECT_TRUE(steps[0].done);
  EXPECT_EQ(steps[0].reward, 0);
  EXPECT_FALSE(steps[1].done);
  EXPECT_EQ(steps[1].reward, -1);
}

TEST(GameBatch, RewardsOfDetectiveAreThePointsOfTheStep) {
  GameBatch<Detective> batch(Detective(), "solve the case", {.size = 1, .seed = 2});
  double points = 0;
  for (int turn = 0; turn < 50; ++turn) {
    const std::vector<std::string> valid = ValidActions(batch.state(0));
    // Takes what it sees, else the first door.
    const std::vector<std::string_view> actions = {valid.front()};
    const BatchStep step = batch.Step(actions)[0];
    EXPECT_EQ(step.reward, actions[0].starts_with("take ") && actions[0] != "take key" ? 10 : 0);
    points += step.reward;
    if (step.done) break;
  }
  EXPECT_GT(points, 0);
}

TEST(GameBatch, WebShopPaysThePurchaseAndEndsWithTheEleventhAction) {
  auto batch = ArcherShopBatch({.size = 3, .seed = 4});
  std::vector<std::string> first;
  for (size_t i = 0; i < batch.size(); ++i) {
    EXPECT_GE(batch.state(i).shop.goal, 2000u);
    EXPECT_LT(batch.state(i).shop.goal, 2100u);
    first.emplace_back(batch.Observation(i));
  }
  const auto product = [&] {
    return "click[" + batch.game().Clickables(batch.state(1)).at(1) + "]";
  };
  const std::vector<std::string_view> search(3, "search[desk lamp]");
  EXPECT_EQ(batch.Step(search)[1].reward, 0);
  const std::string click = product();
  batch.Step(std::vector<std::string_view>{"wait", click, "think[hm]"});
  const auto bought = batch.Step(std::vector<std::string_view>{"wait", "click[Buy Now]", "wait"});
  EXPECT_TRUE(bought[1].done);
  EXPECT_FALSE(bought[1].truncated);
  EXPECT_NE(bought[1].observation.find("Your score"), std::string_view::npos);
  EXPECT_NE(batch.Observation(1), first[1]) << "the next session, probably of another task";
  EXPECT_FALSE(bought[0].done);
  const std::vector<std::string_view> wait(3, "wait");
  for (int action = 4; action <= 11; ++action) {
    const BatchStep step = batch.Step(wait)[0];
    EXPECT_EQ(step.reward, 0);
    ASSERT_EQ(step.done, action == 11) << action;
    EXPECT_EQ(step.truncated, step.done);
  }
  EXPECT_EQ(batch.state(0).steps, 0) << "an ended session is not played again";
}

TEST(GameBatch, DrawsTheTasksAskedFor) {
  const auto batch = ArcherShopBatch({.size = 20, .first_task = 7, .tasks = 2});
  std::set<uint32_t> goals;
  for (size_t i = 0; i < batch.size(); ++i) goals.insert(batch.state(i).shop.goal);
  EXPECT_EQ(goals, (std::set<uint32_t>{7, 8}));
}

}  // namespace
}  // namespace agentr
