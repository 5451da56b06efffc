#include "eval/task_episodes.h"

#include <gtest/gtest.h>

#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

TEST(TaskEpisodesTest, ByTaskThenByAttemptWithErrorsApart) {
  const std::vector<Episode> episodes = {HandEpisode(9, 1, 1), HandEpisode(2, 0, 0.5),
                                         FailedEpisode(9, 0, "gone"), HandEpisode(9, 2, 0)};
  const std::vector<TaskEpisodes> tasks = GroupByTask(episodes);
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].task_id, 2);
  EXPECT_EQ(tasks[1].task_id, 9);
  ASSERT_EQ(tasks[1].all.size(), 3u);
  for (int attempt = 0; attempt < 3; ++attempt) {
    EXPECT_EQ(tasks[1].all[static_cast<size_t>(attempt)]->attempt, attempt);
  }
  EXPECT_EQ(tasks[1].with_result.size(), 2u);
  EXPECT_EQ(MeanReward(tasks[1]), 0.5);
  EXPECT_EQ(SuccessShare(tasks[1], 1.0), 0.5);
  EXPECT_EQ(SuccessShare(tasks[0], 0.5), 1.0);
}

TEST(TaskEpisodesTest, AnEpisodeIsFoundByTaskAndAttempt) {
  const std::vector<Episode> episodes = {HandEpisode(9, 1, 1), FailedEpisode(9, 0, "gone"),
                                         HandEpisode(1, 9, 0)};
  const auto by_attempt = ByAttempt(episodes);
  ASSERT_EQ(by_attempt.size(), 3u);
  for (const Episode& episode : episodes) EXPECT_EQ(by_attempt.at(IdOf(episode)), &episode);
  EXPECT_FALSE(by_attempt.contains({9, 2}));
}

TEST(TaskEpisodesTest, ReplayedTurnsAreNotTheAgents) {
  Episode episode = HandEpisode(1, 0, 1, {"a", "b", "c"});
  EXPECT_EQ(OwnTurns(episode).size(), 3u);
  episode.replayed_turns = 2;
  ASSERT_EQ(OwnTurns(episode).size(), 1u);
  EXPECT_EQ(OwnTurns(episode)[0].action, "c");
  episode.replayed_turns = 7;
  EXPECT_TRUE(OwnTurns(episode).empty());
}

TEST(TaskEpisodesTest, SuccessForgivesRounding) {
  EXPECT_TRUE(IsSuccess(HandEpisode(1, 0, 0.1 + 0.2), 0.3));
  EXPECT_TRUE(IsSuccess(HandEpisode(1, 0, 1 - 1e-12), 1));
  EXPECT_FALSE(IsSuccess(HandEpisode(1, 0, 0.999), 1));
}

}  // namespace
}  // namespace agentr
