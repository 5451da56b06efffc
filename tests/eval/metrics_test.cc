#include "eval/metrics.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

// By trying every set of k of the n attempts, of which the first c succeeded.
double PassByEnumeration(int n, int c, int k) {
  const unsigned successes = (1u << c) - 1;
  int sets = 0, passed = 0;
  for (unsigned set = 0; set < (1u << n); ++set) {
    if (std::popcount(set) != k) continue;
    ++sets;
    passed += (set & successes) != 0;
  }
  return static_cast<double>(passed) / sets;
}

TEST(PassAtKTest, IsTheShareOfAllSets) {
  for (int n = 1; n <= 10; ++n) {
    for (int c = 0; c <= n; ++c) {
      for (int k = 1; k <= n; ++k) {
        EXPECT_NEAR(PassAtK(n, c, k), PassByEnumeration(n, c, k), 1e-12) << n << c << k;
      }
    }
  }
}

TEST(PassAtKTest, ManyAttemptsDoNotOverflow) {
  EXPECT_NEAR(PassAtK(100000, 50000, 1), 0.5, 1e-9);
  EXPECT_NEAR(PassAtK(100000, 1, 1000), 0.01, 1e-9);
  EXPECT_EQ(PassAtK(100000, 0, 1000), 0);
  EXPECT_EQ(PassAtK(100000, 99999, 2), 1);
  EXPECT_EQ(PassAtK(5000, 5000, 2500), 1);
}

TEST(MetricsTest, OfNothingEverythingIsZero) {
  const EvalMetrics metrics = Measure({}, {});
  EXPECT_EQ(metrics.episodes, 0);
  EXPECT_EQ(metrics.reward.tasks, 0u);
  EXPECT_EQ(metrics.mean_steps, 0);
  EXPECT_TRUE(metrics.attempts.empty());
}

TEST(MetricsTest, EveryEndIsCountedAndErrorsAreNoReward) {
  const std::vector<Episode> episodes = {
      HandEpisode(1, 0, 1, {"a"}),
      HandEpisode(2, 0, 0.25, {"a", "b"}, EpisodeEnd::kMaxSteps),
      HandEpisode(3, 0, 0.25, {"a", "b", "c"}, EpisodeEnd::kContextOverflow),
      FailedEpisode(4, 0, "no reply"),
      FailedEpisode(5, 0, "no model", EpisodeEnd::kModelError),
      FailedEpisode(5, 1, "no model", EpisodeEnd::kModelError),
  };
  const EvalMetrics metrics = Measure(episodes, {});
  EXPECT_EQ(metrics.ends, (std::array<int64_t, 6>{1, 1, 1, 1, 2, 0}));
  EXPECT_EQ(metrics.episodes, 6);
  EXPECT_EQ(metrics.tasks, 5);
  EXPECT_EQ(metrics.with_result, 3);
  EXPECT_EQ(metrics.reward.tasks, 3u);
  EXPECT_DOUBLE_EQ(metrics.reward.mean, 0.5);
  EXPECT_DOUBLE_EQ(metrics.success.mean, 1.0 / 3);
  EXPECT_EQ(metrics.successes, 1);
  EXPECT_EQ(metrics.steps, 6) << "of the episodes with a result";
  EXPECT_DOUBLE_EQ(metrics.mean_steps, 2);

  const EvalMetrics without = Measure(std::span(episodes).first(3), {});
  EXPECT_EQ(metrics.reward.low, without.reward.low);
  EXPECT_EQ(metrics.reward.high, without.reward.high);
}

TEST(MetricsTest, AllErrorsLeaveNothingToEstimate) {
  const EvalMetrics metrics = Measure(std::vector{FailedEpisode(1, 0, "no reply")}, {});
  EXPECT_EQ(metrics.episodes, 1);
  EXPECT_EQ(metrics.with_result, 0);
  EXPECT_EQ(metrics.reward.tasks, 0u);
  EXPECT_TRUE(metrics.attempts.empty());
}

TEST(MetricsTest, EachTaskWeighsTheSame) {
  const std::vector<Episode> episodes = {HandEpisode(1, 0, 1), HandEpisode(1, 1, 1),
                                         HandEpisode(1, 2, 1), HandEpisode(2, 0, 0)};
  EXPECT_DOUBLE_EQ(Measure(episodes, {}).reward.mean, 0.5);
}

TEST(MetricsTest, AttemptsByHand) {
  // Task 1: four attempts, successes at the second and the fourth; task 2: two attempts and an
  // error; task 3: nothing but errors.
  const std::vector<Episode> episodes = {
      HandEpisode(1, 0, 0.5), HandEpisode(1, 1, 1),
      HandEpisode(1, 2, 0),   HandEpisode(1, 3, 1),
      HandEpisode(2, 0, 0.2), FailedEpisode(2, 1, "no reply"),
      HandEpisode(2, 2, 0),   FailedEpisode(3, 0, "no reply"),
  };
  const std::vector<AttemptMetrics> attempts = Measure(episodes, {}).attempts;
  ASSERT_EQ(attempts.size(), 3u);
  EXPECT_EQ(attempts[0].k, 1);
  EXPECT_EQ(attempts[0].tasks, 2u);
  EXPECT_DOUBLE_EQ(attempts[0].avg, (2.5 / 4 + 0.1) / 2);
  EXPECT_DOUBLE_EQ(attempts[0].pass, (0.5 + 0) / 2);
  EXPECT_EQ(attempts[1].k, 2);
  EXPECT_EQ(attempts[1].tasks, 2u) << "the error is no attempt";
  EXPECT_DOUBLE_EQ(attempts[1].avg, (2.5 / 4 + 0.1) / 2) << "whatever k is";
  EXPECT_DOUBLE_EQ(attempts[1].pass, (PassByEnumeration(4, 2, 2) + 0) / 2);
  EXPECT_EQ(attempts[2].k, 4);
  EXPECT_EQ(attempts[2].tasks, 1u) << "task 2 has only two";
  EXPECT_DOUBLE_EQ(attempts[2].avg, 2.5 / 4);
  EXPECT_DOUBLE_EQ(attempts[2].pass, 1);
}

TEST(MetricsTest, AttemptsUpToTheMostThatThereAre) {
  std::vector<Episode> episodes;
  for (int attempt = 0; attempt < 6; ++attempt) episodes.push_back(HandEpisode(1, attempt, 0));
  std::vector<int> ks;
  for (const AttemptMetrics& at : Measure(episodes, {}).attempts) ks.push_back(at.k);
  EXPECT_EQ(ks, (std::vector{1, 2, 4, 6}));
}

TEST(MetricsTest, ReplayedTurnsAreNotMeasured) {
  Episode episode = HandEpisode(1, 0, 1, {"wait", "a", "a", "go", "wait", "b", "b", "b", "wait"});
  for (EpisodeTurn& turn : episode.turns) turn.refused = true;
  episode.turns.back().refused = false;
  for (EpisodeTurn& turn : episode.turns) turn.dropped_turns = 1;
  const EvalMetrics whole = Measure(std::vector{episode}, {});
  EXPECT_EQ(whole.steps, 9);
  EXPECT_EQ(whole.refused, 8);
  EXPECT_EQ(whole.cut_steps, 9);
  EXPECT_EQ(whole.repeats[0], 3);
  EXPECT_EQ(whole.revision_events, 3);
  EXPECT_EQ(whole.mean_revision_length, 0);

  episode.replayed_turns = 3;
  const EvalMetrics own = Measure(std::vector{episode}, {});
  EXPECT_EQ(own.steps, 6);
  EXPECT_EQ(own.refused, 5);
  EXPECT_EQ(own.cut_steps, 6);
  EXPECT_EQ(own.repeats[0], 2);
  EXPECT_EQ(own.revision_events, 2);
  EXPECT_EQ(own.mean_revision_length, 1);
}

TEST(MetricsTest, LoopsAndRevisionsOverEpisodes) {
  const std::vector<Episode> episodes = {
      HandEpisode(1, 0, 0, {"a", "b", "a", "b", "a", "b"}),
      HandEpisode(2, 0, 0, {"a", "a", "again", "b"}),
      HandEpisode(3, 0, 0, {"a", "b", "c", "again", "again"}),
      HandEpisode(4, 0, 0, {"a", "b", "wait"}),
  };
  MetricOptions options;
  options.revisions.action = "again";
  options.longest_loop = 3;
  const EvalMetrics metrics = Measure(episodes, options);
  EXPECT_EQ(metrics.looping, 3);
  EXPECT_EQ(metrics.repeats, (std::vector<int64_t>{2, 2, 0}));
  EXPECT_EQ(metrics.revision_events, 3);
  EXPECT_EQ(metrics.revising, 2);
  EXPECT_DOUBLE_EQ(metrics.mean_revision_length, (2 + 3) / 2.0);
}

TEST(MetricsTest, RevisionsAreComparedWithTheErrorsBeforeThem) {
  // Three runs of refused steps, one of which a revision ends; two other revisions follow no error.
  Episode episode = HandEpisode(1, 0, 0, {"x", "x", "wait", "wait", "go", "x", "go", "wait", "x"});
  for (const size_t refused : {0, 1, 5, 8}) episode.turns[refused].refused = true;
  const EvalMetrics metrics = Measure(std::vector{episode}, {});
  EXPECT_EQ(metrics.revision_events, 3);
  EXPECT_EQ(metrics.errors, 3);
  EXPECT_EQ(metrics.revised_errors, 1);
}

TEST(MetricsTest, UsageIsThatOfTheEpisodesWithAResult) {
  std::vector<Episode> episodes = {HandEpisode(1, 0, 0), HandEpisode(2, 0, 0),
                                   FailedEpisode(3, 0, "no reply")};
  for (Episode& episode : episodes) episode.usage = {1, 0, 100, 60, 10};
  const EvalMetrics metrics = Measure(episodes, {});
  EXPECT_EQ(metrics.usage.prompt_tokens, 200);
  EXPECT_EQ(metrics.usage.cached_tokens, 120);
  EXPECT_EQ(metrics.usage.completion_tokens, 20);
}

TEST(MetricsTest, TheThresholdOfSuccessIsAnOption) {
  const std::vector<Episode> episodes = {HandEpisode(1, 0, 0.6), HandEpisode(2, 0, 0.4)};
  MetricOptions options;
  EXPECT_EQ(Measure(episodes, options).success.mean, 0);
  options.success_threshold = 0.5;
  EXPECT_EQ(Measure(episodes, options).success.mean, 0.5);
}

}  // namespace
}  // namespace agentr
