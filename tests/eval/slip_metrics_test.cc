#include "eval/slip_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/random.h"
#include "eval/episode_file.h"
#include "eval/metrics.h"
#include "eval/summary.h"
#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Episode WithSlips(Episode episode, const std::vector<std::pair<size_t, Slip>>& slips) {
  for (const auto& [turn, slip] : slips) episode.turns[turn].slip = slip;
  return episode;
}

// Two episodes with all that is counted.
std::vector<Episode> HandMade() {
  // Steps:    0    1      2       3    4    5    6       7    8    9
  Episode first =
      HandEpisode(1, 0, 1, {"a", "slip", "wait", "b", "c", "d", "wait", "e", "slip", "f"});
  first.turns[4].refused = true;
  first = WithSlips(std::move(first), {{1, {.said = "x", .changed_state = true, .undone_after = 3}},
                                       {8, {.said = "y", .changed_state = true}}});
  // The agent says "z" three times, of which one slips. Its first turn is replayed, and its
  // revision has no reason.
  Episode second = HandEpisode(2, 0, 0.5, {"slip", "wait", "z", "other", "z"});
  second.replayed_turns = 1;
  second = WithSlips(std::move(second), {{0, {.said = "q"}}, {3, {.said = "z"}}});
  second.turns[2].missed_slip = true;
  second.turns[4].refused = true;
  Episode clean = HandEpisode(3, 0, 1, {"z", "z"});
  return {first, second, clean, FailedEpisode(4, 0, "no reply")};
}

TEST(SlipMetricsTest, CountsOfAHandMadeEpisode) {
  const SlipMetrics m = MeasureSlips(HandMade(), {.window = 2});
  EXPECT_EQ(m.steps, 10 + 4 + 2);
  EXPECT_EQ(m.slips, 3);
  EXPECT_EQ(m.missed_slips, 1);
  EXPECT_EQ(m.slipping, 2);
  EXPECT_EQ(m.successes, 1);
  EXPECT_EQ(m.refused_own, 2);
  EXPECT_EQ(m.behind_refusals, 1) << "the other refusal is the last turn";
  EXPECT_EQ(m.then_taken, 1);
  EXPECT_EQ(m.said_again, 0);
  EXPECT_EQ(m.revisions, 3);
  EXPECT_EQ(m.revised_slips, 1) << "that of step 1";
  EXPECT_EQ(m.false_revisions, 1) << "step 6 follows the refusal of step 4";
  EXPECT_EQ(m.changing_slips, 2);
  EXPECT_EQ(m.undone_slips, 1);
  EXPECT_EQ(m.steps_to_undo, 3);
  EXPECT_EQ(m.ended_in_loop, 1) << "by what was said";
  // With a shorter memory the revision of step 6 has no reason either.
  EXPECT_EQ(MeasureSlips(HandMade(), {.window = 1}).false_revisions, 2);
}

TEST(SlipMetricsTest, LoopsWithRevisionsBetween) {
  const auto loops = [](const std::vector<std::string>& actions) {
    return MeasureSlips(std::vector{HandEpisode(1, 0, 0, actions)}, {}).ended_in_loop;
  };
  EXPECT_EQ(loops({"b", "a", "a", "a"}), 1);
  EXPECT_EQ(loops({"b", "a", "wait", "a", "wait", "a"}), 1);
  EXPECT_EQ(loops({"a", "wait", "a", "b", "wait", "a"}), 0);
  EXPECT_EQ(loops({"a", "wait", "wait", "wait"}), 1);
  EXPECT_EQ(loops({"a", "a", "wait"}), 0);
}

// A revision turn is passed over; behind the last refusal the environment gets a slip.
TEST(SlipMetricsTest, WhatIsSaidBehindARefusal) {
  Episode episode = HandEpisode(1, 0, 0, {"a", "wait", "a", "b", "c", "wait", "slip"});
  for (const size_t turn : {0, 2, 3, 4}) episode.turns[turn].refused = true;
  episode = WithSlips(std::move(episode), {{6, {.said = "d"}}});
  const std::vector episodes = {episode};
  const SlipMetrics m = MeasureSlips(episodes, {});
  EXPECT_EQ(m.refused_own, 4);
  EXPECT_EQ(m.behind_refusals, 3);
  EXPECT_EQ(m.said_again, 1);
  EXPECT_EQ(m.then_taken, 0);
  EXPECT_THAT(SlipTable(std::array{SlipColumn{m, 1}}, 5),
              HasSubstr("behind a refusal    33.3 % say it again, 0.0 % work\n"));
}

TEST(SlipMetricsTest, TheSummaryHasThemOnlyWithSlips) {
  MetricOptions options;
  const EvalMetrics without = Measure(HandMade(), options);
  EXPECT_FALSE(SummaryJson(without, 4).contains("slips"));
  EXPECT_THAT(SummaryTable(without, 4), Not(HasSubstr("slips")));
  options.slips = true;
  options.revision_window = 2;
  const EvalMetrics with = Measure(HandMade(), options);
  const nlohmann::ordered_json json = SummaryJson(with, 4);
  EXPECT_EQ(json["slips"]["slips"], 3);
  EXPECT_EQ(json["slips"]["revised_slips"], 1);
  EXPECT_EQ(json["slips"]["mean_steps_to_undo"], 3.0);
  EXPECT_EQ(json["slips"]["window"], 2);
  const std::string table = SummaryTable(with, 4);
  EXPECT_THAT(table, HasSubstr("slips               18.8 % (3 of 16) of the steps; 1 missed\n"));
  EXPECT_THAT(table, HasSubstr("revised in 2 steps  33.3 % (1 of 3)\n"));
  EXPECT_THAT(table, HasSubstr("undone slips        50.0 % (1 of 2), after 3.0 steps\n"));
  EXPECT_THAT(table, HasSubstr("end in a loop       33.3 % (1 of 3)\n"));
}

TEST(SlipMetricsTest, WhatTheWorldDoesNotTellIsADash) {
  const Episode episode = WithSlips(HandEpisode(1, 0, 0, {"a"}), {{0, {.said = "b"}}});
  const std::string table =
      SlipTable(std::array{SlipColumn{MeasureSlips(std::vector{episode}, {}), 1}}, 5);
  EXPECT_THAT(table, HasSubstr("undone slips        -\n"));
  EXPECT_TRUE(SlipJson(SlipMetrics(), 5)["mean_steps_to_undo"].is_null());
}

TEST(SlipMetricsTest, WithoutASlipOnlyTheirShareIsTold) {
  const std::vector episodes = {HandEpisode(1, 0, 0, {"a"})};
  const std::string table = SlipTable(std::array{SlipColumn{MeasureSlips(episodes, {}), 1}}, 5);
  EXPECT_THAT(table, HasSubstr("slips               0.0 % (0 of 1) of the steps\nfalse revisions"));
  EXPECT_THAT(table, HasSubstr("end in a loop       0.0 % (0 of 1)\n"));
}

TEST(SlipMetricsTest, EpisodeFilesKeepSlips) {
  Episode episode = HandMade()[0];
  episode.turns[1].slip->response = "Action: x";
  episode.turns[8].slip->lost = true;
  episode.turns[9].missed_slip = true;
  const std::string text = WriteEpisode({episode, "{}"});
  EXPECT_EQ(ReadEpisode(text, "file").episode.turns, episode.turns);
  EXPECT_THAT(WriteEpisode({HandMade()[2], "{}"}), Not(HasSubstr("slip")));
}

// Evaluations of the same tasks and attempts, some of them without a result.
std::vector<Episode> RandomRun(int tasks, int attempts, double success, uint64_t seed) {
  RandomStream random(seed);
  std::vector<Episode> episodes;
  for (int task = 0; task < tasks; ++task) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      episodes.push_back(random.Chance(0.1) ? FailedEpisode(task, attempt, "no reply")
                                            : HandEpisode(task, attempt, random.Chance(success)));
    }
  }
  return episodes;
}

// By looking for the partner of every episode.
double RateByHand(const std::vector<Episode>& without, const std::vector<Episode>& with,
                  const std::vector<int>& tasks) {
  double sum_with = 0, sum_without = 0;
  for (const int task : tasks) {
    double a = 0, b = 0;
    int pairs = 0;
    for (const Episode& x : without) {
      for (const Episode& y : with) {
        if (x.task_id != task || y.task_id != task || x.attempt != y.attempt) continue;
        if (!HasResult(x.end) || !HasResult(y.end)) continue;
        ++pairs;
        a += x.reward;
        b += y.reward;
      }
    }
    if (pairs == 0) continue;
    sum_without += a / pairs;
    sum_with += b / pairs;
  }
  return sum_with / sum_without;
}

TEST(RecoveryRateTest, IsThatOfAllPairs) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Episode> without = RandomRun(12, 3, 0.7, seed);
    const std::vector<Episode> with = RandomRun(12, 3, 0.4, 100 + seed);
    std::vector<int> tasks(12);
    for (int i = 0; i < 12; ++i) tasks[static_cast<size_t>(i)] = i;
    EXPECT_NEAR(RecoveryRate(without, with, 1, {}).mean, RateByHand(without, with, tasks), 1e-12);
  }
}

TEST(RecoveryRateTest, ItsIntervalIsThatOfAllResamples) {
  // Four tasks: every one of the 256 resamples can be listed.
  const std::vector<Episode> without = RandomRun(4, 5, 0.8, 3);
  const std::vector<Episode> with = RandomRun(4, 5, 0.4, 4);
  std::vector<double> rates;
  for (int code = 0; code < 256; ++code) {
    rates.push_back(
        RateByHand(without, with, {code % 4, code / 4 % 4, code / 16 % 4, code / 64 % 4}));
  }
  std::ranges::sort(rates);
  const Estimate rate = RecoveryRate(without, with, 1, {.resamples = 200000});
  EXPECT_NEAR(rate.low, rates[6], 0.02);
  EXPECT_NEAR(rate.high, rates[249], 0.02);
  EXPECT_LT(rate.low, rate.mean);
  EXPECT_GT(rate.high, rate.mean);
}

TEST(RecoveryRateTest, OfNoSuccessNothingIsKnown) {
  const std::vector<Episode> none = {HandEpisode(1, 0, 0)};
  EXPECT_EQ(RecoveryRate(none, std::vector{HandEpisode(1, 0, 1)}, 1, {}).tasks, 0u);
  EXPECT_EQ(RecoveryRate({}, {}, 1, {}).tasks, 0u);
}

TEST(CompareSlipsTest, EachSideRevisesWithItsOwnAction) {
  const auto revised = [](const std::string& action) {
    return std::vector{WithSlips(HandEpisode(1, 0, 1, {"b", action}), {{0, {.said = "a"}}})};
  };
  const auto options = [](const std::string& action) {
    return R"({"slip": 0.1, "revision_action": ")" + action + "\"}";
  };
  const auto compared = CompareSlips(revised("look"), revised("stop"), options("look"),
                                     options("stop"), {.revisions = {"wait"}});
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->a.metrics.revised_slips, 1);
  EXPECT_EQ(compared->b.metrics.revised_slips, 1);
  const auto unnamed =
      CompareSlips(revised("wait"), {}, R"({"slip": 0.1})", "{}", {.revisions = {"wait"}});
  EXPECT_EQ(unnamed->a.metrics.revised_slips, 1);
}

TEST(CompareSlipsTest, GivesTheRateOnlyWhereNothingElseDiffers) {
  const std::vector<Episode> clean = {HandEpisode(1, 0, 1, {"a"}), HandEpisode(2, 0, 1, {"a"})};
  const std::vector<Episode> slipped = {
      WithSlips(HandEpisode(1, 0, 1, {"b"}), {{0, {.said = "a"}}}),
      WithSlips(HandEpisode(2, 0, 0, {"b"}), {{0, {.said = "a"}}})};
  const std::string plain = R"({"model": "m"})";
  const std::string slips = R"({"model": "m", "slip": 0.1, "slip_kind": "random"})";
  EXPECT_FALSE(CompareSlips(clean, clean, plain, plain, {}));
  const auto compared = CompareSlips(clean, slipped, plain, slips, {});
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->recovery_rate.mean, 0.5);
  EXPECT_EQ(compared->recovery_rate.tasks, 2u);
  EXPECT_EQ(compared->b.metrics.slips, 2);
  EXPECT_EQ(compared->at_stake, 2);
  EXPECT_EQ(compared->kept, 1);
  EXPECT_THAT(SlipComparisonTable(*compared), HasSubstr("recovery rate       50.0 % [0.0, 100.0]"));
  const auto reversed = CompareSlips(slipped, clean, slips, plain, {});
  EXPECT_EQ(reversed->recovery_rate.mean, 0.5) << "whichever comes first";
  EXPECT_EQ(SlipComparisonJson(*reversed)["recovery_rate"]["mean"], 0.5);
  const auto other = CompareSlips(clean, slipped, R"({"model": "n"})", slips, {});
  EXPECT_EQ(other->recovery_rate.tasks, 0u);
  EXPECT_THAT(SlipComparisonTable(*other), HasSubstr("they differ in more than the slips"));
  EXPECT_EQ(CompareSlips(slipped, slipped, slips, slips, {})->why_none, "both have slips");
}

}  // namespace
}  // namespace agentr
