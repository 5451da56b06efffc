#include "eval/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/random.h"
#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

std::vector<int> Ids(const std::vector<TaskPair>& tasks) {
  std::vector<int> ids;
  for (const TaskPair& task : tasks) ids.push_back(task.task_id);
  return ids;
}

TEST(ComparisonTest, ARunIsEqualToItself) {
  RandomStream stream(5);
  std::vector<Episode> episodes;
  for (int task_id = 0; task_id < 50; ++task_id) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      episodes.push_back(HandEpisode(task_id, attempt, stream.Uniform()));
    }
  }
  const Comparison comparison = Compare(episodes, episodes, {});
  EXPECT_EQ(comparison.tasks, 50u);
  EXPECT_EQ(comparison.ties, 50u);
  EXPECT_TRUE(comparison.won.empty() && comparison.lost.empty());
  EXPECT_EQ(comparison.reward.estimate.mean, 0);
  EXPECT_EQ(comparison.reward.p, 1);
  EXPECT_EQ(comparison.success.p, 1);
  EXPECT_EQ(comparison.reward_a.low, comparison.reward_b.low);
}

TEST(ComparisonTest, OnlyTasksOfBothWithAResultAreCompared) {
  const std::vector<Episode> a = {HandEpisode(1, 0, 0.5), HandEpisode(2, 0, 1),
                                  HandEpisode(3, 0, 1), FailedEpisode(4, 0, "gone"),
                                  HandEpisode(5, 0, 0)};
  const std::vector<Episode> b = {HandEpisode(9, 0, 1),        HandEpisode(1, 0, 1),
                                  FailedEpisode(2, 0, "gone"), HandEpisode(4, 0, 1),
                                  FailedEpisode(5, 0, "gone"), HandEpisode(5, 1, 0.5)};
  const Comparison comparison = Compare(a, b, {});
  EXPECT_EQ(comparison.tasks, 2u);
  EXPECT_THAT(comparison.only_a, ElementsAre(3));
  EXPECT_THAT(comparison.only_b, ElementsAre(9));
  EXPECT_THAT(comparison.without_result, ElementsAre(2, 4));
  EXPECT_DOUBLE_EQ(comparison.reward_a.mean, 0.25);
  EXPECT_DOUBLE_EQ(comparison.reward_b.mean, 0.75);
  EXPECT_DOUBLE_EQ(comparison.reward.estimate.mean, 0.5);
  EXPECT_DOUBLE_EQ(comparison.success.estimate.mean, 0.5);
}

TEST(ComparisonTest, WonAndLostByTheMeanOverAttempts) {
  const std::vector<Episode> a = {HandEpisode(1, 0, 0), HandEpisode(1, 1, 1), HandEpisode(2, 0, 1),
                                  HandEpisode(3, 0, 0.2), HandEpisode(4, 0, 0.1)};
  const std::vector<Episode> b = {HandEpisode(1, 0, 0.5), HandEpisode(2, 0, 0.75),
                                  HandEpisode(3, 0, 0.3), HandEpisode(4, 0, 0.6)};
  CompareOptions options;
  const Comparison comparison = Compare(a, b, options);
  EXPECT_THAT(Ids(comparison.won), ElementsAre(4, 3)) << "the largest difference first";
  EXPECT_THAT(Ids(comparison.lost), ElementsAre(2));
  EXPECT_EQ(comparison.ties, 1u);
  EXPECT_EQ(comparison.won[0].a, 0.1);
  EXPECT_EQ(comparison.won[0].b, 0.6);

  options.tolerance = 0.15;
  EXPECT_THAT(Ids(Compare(a, b, options).won), ElementsAre(4));
  EXPECT_EQ(Compare(a, b, options).ties, 2u);
}

TEST(ComparisonTest, BeforeAndAfterChangePlaces) {
  RandomStream stream(8);
  std::vector<Episode> a, b;
  for (int task_id = 0; task_id < 60; ++task_id) {
    a.push_back(HandEpisode(task_id, 0, stream.Chance(0.3)));
    b.push_back(HandEpisode(task_id, 0, stream.Chance(0.6)));
  }
  const Comparison there = Compare(a, b, {}), back = Compare(b, a, {});
  EXPECT_EQ(there.reward.estimate.mean, -back.reward.estimate.mean);
  EXPECT_NEAR(there.reward.estimate.low, -back.reward.estimate.high, 1e-12);
  EXPECT_EQ(there.reward.p, back.reward.p);
  EXPECT_LT(there.reward.p, 0.05);
  EXPECT_EQ(Ids(there.won), Ids(back.lost));
}

TEST(ComparisonTest, SuccessHasTheIntervalOfTheSummary) {
  std::vector<Episode> never, always;
  for (int task_id = 0; task_id < 8; ++task_id) {
    never.push_back(HandEpisode(task_id, 0, 0.5));
    always.push_back(HandEpisode(task_id, 0, 1));
  }
  const Comparison comparison = Compare(never, always, {});
  const Estimate summary = BootstrapRate(std::vector<double>(8, 0.0), {});
  EXPECT_GT(comparison.success_a.high, 0.3);
  EXPECT_EQ(comparison.success_a.high, summary.high);
  EXPECT_DOUBLE_EQ(comparison.success_b.low, 1 - summary.high);
  EXPECT_EQ(comparison.reward_a.high, 0.5);
}

TEST(ComparisonTest, NothingInCommon) {
  const Comparison comparison =
      Compare(std::vector{HandEpisode(1, 0, 1)}, std::vector{HandEpisode(2, 0, 1)}, {});
  EXPECT_EQ(comparison.tasks, 0u);
  EXPECT_EQ(comparison.reward.p, 1);
  EXPECT_EQ(ComparisonTable(comparison, "x", "y"),
            "A: x\nB: y\n0 tasks compared; 1 only in A, 1 only in B, 0 without a result\n");
}

TEST(ComparisonTest, TheTableNamesRunsTasksAndWhatIsLeftOut) {
  Comparison comparison;
  comparison.tasks = 5;
  comparison.only_a = {7};
  comparison.reward_a = {0.25, 0.125, 0.5, 5};
  comparison.reward_b = {0.5, 0.375, 0.75, 5};
  comparison.reward = {{0.25, -0.125, 0.5, 5}, 0.0421};
  comparison.success_a = {0.2, 0, 0.4, 5};
  comparison.success_b = {0.4, 0.2, 0.6, 5};
  comparison.success = {{0.2, 0.1, 0.3, 5}, 0.00009999};
  comparison.won = {{4, 0, 1}, {2, 0.5, 0.75}};
  comparison.lost = {{3, 0.5, 0.25}};
  comparison.ties = 2;
  EXPECT_EQ(
      ComparisonTable(comparison, "old", "new", 1),
      "A: old\n"
      "B: new\n"
      "5 tasks compared; 1 only in A, 0 only in B, 0 without a result\n"
      "              A                         B                         B - A (paired; 95 % "
      "intervals)\n"
      "mean reward   0.250 [0.125, 0.500]      0.500 [0.375, 0.750]      +0.250 [-0.125, +0.500], "
      "p 0.042\n"
      "success rate  20.0 % [0.0, 40.0]        40.0 % [20.0, 60.0]       +20.0 points [+10.0, "
      "+30.0], p 0.0001\n"
      "B better: 2 tasks: 4 (0 -> 1) and 1 more\n"
      "B worse:  1 tasks: 3 (0.5 -> 0.25)\n"
      "equal:    2 tasks\n");
}

TEST(ComparisonTest, TheJsonHoldsEveryTask) {
  const std::vector<Episode> a = {HandEpisode(1, 0, 0), HandEpisode(2, 0, 1), HandEpisode(3, 0, 1)};
  const std::vector<Episode> b = {HandEpisode(1, 0, 1), HandEpisode(2, 0, 0)};
  const nlohmann::ordered_json json = ComparisonJson(Compare(a, b, {}), "old", "new");
  EXPECT_EQ(json.at("b").get<std::string>(), "new");
  EXPECT_EQ(json.at("only_a").get<std::vector<int>>(), std::vector{3});
  EXPECT_EQ(json.at("won").at(0).at("task").get<int>(), 1);
  EXPECT_EQ(json.at("lost").at(0).at("a").get<double>(), 1);
  EXPECT_EQ(json.at("reward").at("difference").at("mean").get<double>(), 0);
  EXPECT_EQ(json.at("reward").at("p").get<double>(), 1);
}

}  // namespace
}  // namespace agentr
