#include "eval/compare_arms.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// One attempt at each task, numbered from 0.
std::vector<Episode> RunOf(const std::vector<double>& rewards) {
  std::vector<Episode> run;
  for (const double reward : rewards) {
    run.push_back(HandEpisode(static_cast<int>(run.size()), 0, reward));
  }
  return run;
}

TEST(CompareArms, MeansAndDifferencesAreOverTasksAndTrainings) {
  const std::vector<Arm> arms = {{"good", {{RunOf({1, 0, 0, 0}), RunOf({1, 1, 0, 0})}}},
                                 {"revise", {{RunOf({1, 1, 1, 0}), RunOf({1, 0.5, 1, 0})}}}};
  const ArmsComparison comparison = CompareArms(arms, {});
  EXPECT_EQ(comparison.tasks, 4u);
  EXPECT_EQ(comparison.always, 1u);
  EXPECT_EQ(comparison.never, 1u);
  EXPECT_DOUBLE_EQ(comparison.arms[0].success.mean, 3.0 / 8);
  EXPECT_DOUBLE_EQ(comparison.arms[1].success.mean, 5.0 / 8);
  EXPECT_DOUBLE_EQ(comparison.arms[1].success_difference.mean, 2.0 / 8);
  EXPECT_DOUBLE_EQ(comparison.arms[1].reward_difference.mean, 2.5 / 8);
  EXPECT_EQ(comparison.arms[0].success_difference.high, 0);
}

// All equally likely resamples of two tasks and of two trainings in each arm, counted out.
TEST(CompareArms, TheIntervalIsThatOfAllResamples) {
  const double a[2][2] = {{0.1, 0.5}, {0.2, 0.9}};  // [training][task]
  const double b[2][2] = {{0.4, 0.6}, {0.8, 0.7}};
  std::vector<double> differences;
  for (int draw = 0; draw < 64; ++draw) {
    const auto bit = [&](int i) { return (draw >> i) & 1; };
    double difference = 0;
    for (int task = 0; task < 2; ++task) {
      for (int training = 0; training < 2; ++training) {
        difference += (b[bit(4 + training)][bit(task)] - a[bit(2 + training)][bit(task)]) / 4;
      }
    }
    differences.push_back(difference);
  }
  std::ranges::sort(differences);
  const std::vector<Arm> arms = {{"a", {{RunOf({0.1, 0.5}), RunOf({0.2, 0.9})}}},
                                 {"b", {{RunOf({0.4, 0.6}), RunOf({0.8, 0.7})}}}};
  const Estimate estimate =
      CompareArms(arms, {.bootstrap = {.resamples = 40000}}).arms[1].reward_difference;
  // Each is 1/64 of all resamples, so the second one from either end is the 2.5 % quantile.
  EXPECT_NEAR(estimate.low, differences[1], 1e-9);
  EXPECT_NEAR(estimate.high, differences[62], 1e-9);
}

// Tasks that are all alike, trainings that are not: an interval over the tasks would have no width.
TEST(CompareArms, ChanceOfATrainingWidensTheInterval) {
  const std::vector<Arm> arms = {
      {"a", {{RunOf({0.2, 0.2, 0.2}), RunOf({0.6, 0.6, 0.6}), RunOf({0.4, 0.4, 0.4})}}},
      {"b", {{RunOf({0.3, 0.3, 0.3}), RunOf({0.7, 0.7, 0.7}), RunOf({0.5, 0.5, 0.5})}}}};
  const Estimate difference = CompareArms(arms, {}).arms[1].reward_difference;
  EXPECT_NEAR(difference.mean, 0.1, 1e-12);
  EXPECT_LT(difference.low, -0.1);
  EXPECT_GT(difference.high, 0.3);
}

// The second repetition lifts both arms by a half and has three trainings of the one and one of the
// other: it counts as much as the first, and since the arms share its chance, their difference is
// certain all the same.
TEST(CompareArms, ARepetitionIsSharedByTheArmsAndCountsOnce) {
  const auto all = [](double reward) { return RunOf({reward, reward}); };
  const std::vector<Arm> arms = {{"a", {{all(0.1)}, {all(0.6), all(0.6), all(0.6)}}},
                                 {"b", {{all(0.3), all(0.3)}, {all(0.8)}}}};
  const ArmsComparison comparison = CompareArms(arms, {});
  EXPECT_EQ(comparison.repetitions, 2u);
  EXPECT_EQ(comparison.arms[0].trainings, 4u);
  EXPECT_NEAR(comparison.arms[0].reward.mean, 0.35, 1e-12);
  EXPECT_NEAR(comparison.arms[0].reward.low, 0.1, 1e-12) << "both draws may be the first";
  EXPECT_NEAR(comparison.arms[0].reward.high, 0.6, 1e-12);
  EXPECT_NEAR(comparison.arms[1].reward_difference.mean, 0.2, 1e-12);
  EXPECT_NEAR(comparison.arms[1].reward_difference.low, 0.2, 1e-12);
  EXPECT_NEAR(comparison.arms[1].reward_difference.high, 0.2, 1e-12);
  EXPECT_THAT(ArmsTable(comparison), HasSubstr("2 repetitions of the experiment"));
}

TEST(CompareArms, BesideSuccessStandsHowTheAgentsGoOnInTheComparedTasks) {
  const auto loops = [](int task) { return HandEpisode(task, 0, 0.0, {"a", "a", "a"}); };
  std::vector<Arm> arms = {{"good", {{{loops(0), loops(1)}}}},
                           {"revise", {{{HandEpisode(0, 0, 1.0, {"a", "hold on"})}}}}};
  arms[1].revision_action = "hold on";
  const ArmsComparison comparison = CompareArms(arms, {.window = 7});
  EXPECT_EQ(comparison.arms[0].behaviour.metrics.ended_in_loop, 1) << "task 1 is left out";
  EXPECT_EQ(comparison.arms[0].behaviour.metrics.steps, 3);
  EXPECT_EQ(comparison.arms[1].behaviour.metrics.revisions, 1);
  EXPECT_EQ(comparison.revision_window, 7);
  EXPECT_THAT(ArmsTable(comparison), ContainsRegex("false revisions +- +100.0 % \\(1 of 1\\)"));
  EXPECT_EQ(ArmsJson(comparison)["arms"][0]["slips"]["ended_in_loop"], 1);
}

TEST(CompareArms, EveryRepetitionNeedsAllArms) {
  const std::vector<Arm> arms = {{"a", {{RunOf({1})}, {RunOf({0})}}}, {"b", {{RunOf({1})}}}};
  EXPECT_THROW(CompareArms(arms, {}), FatalError);
}

TEST(CompareArms, AnArmThatNeverSucceededIsNotCertainTo) {
  const std::vector<double> none(8, 0.0), all(8, 1.0);
  const std::vector<Arm> arms = {{"never", {{RunOf(none), RunOf(none)}}},
                                 {"always", {{RunOf(all)}}}};
  const ArmsComparison comparison = CompareArms(arms, {});
  EXPECT_EQ(comparison.arms[0].success.high, BootstrapRate(none, {}).high);
  EXPECT_EQ(comparison.arms[1].success.low, BootstrapRate(all, {}).low);
  EXPECT_EQ(comparison.arms[0].reward.high, 0);
}

TEST(CompareArms, TasksWithoutAResultInEveryTrainingAreLeftOut) {
  std::vector<Episode> short_run = RunOf({1, 1});
  std::vector<Episode> failed = RunOf({0, 1, 1});
  failed[0].end = EpisodeEnd::kEnvironmentError;
  const std::vector<Arm> arms = {{"a", {{short_run}}}, {"b", {{failed}}}};
  const ArmsComparison comparison = CompareArms(arms, {});
  EXPECT_EQ(comparison.tasks, 1u);
  EXPECT_EQ(comparison.left_out, 2u);
  EXPECT_THAT(ArmsTable(comparison), HasSubstr("2 left out"));
}

TEST(CompareArms, WithoutACommonTaskThereIsNothingToCompare) {
  std::vector<Episode> other = RunOf({1});
  other[0].task_id = 7;
  EXPECT_THROW(CompareArms(std::vector<Arm>{{"a", {{RunOf({1})}}}, {"b", {{other}}}}, {}),
               FatalError);
  EXPECT_THROW(CompareArms(std::vector<Arm>{{"a", {{}}}}, {}), FatalError);
}

TEST(CompareArms, TheTableAndTheFileSayTheSame) {
  const std::vector<Arm> arms = {{"good paths", {{RunOf({0, 0, 1, 0})}}},
                                 {"agent-r", {{RunOf({1, 0, 1, 0})}}}};
  const ArmsComparison comparison = CompareArms(arms, {});
  const std::string table = ArmsTable(comparison);
  EXPECT_THAT(table, HasSubstr("agent-r"));
  EXPECT_THAT(table, HasSubstr("+25.0 ["));
  const auto json = ArmsJson(comparison);
  EXPECT_EQ(json["arms"][1]["success_difference"]["mean"], 0.25);
  EXPECT_EQ(json["never_solved"], 2);
}

}  // namespace
}  // namespace agentr
