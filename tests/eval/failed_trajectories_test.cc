#include "eval/failed_trajectories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kFive = {"a", "b", "c", "d", "e"};

TEST(Failed, AreThoseWithAResultBelowSuccess) {
  const std::vector<Episode> failed =
      Failed({HandEpisode(1, 0, 1), HandEpisode(2, 0, 0.5), FailedEpisode(3, 0, "down"),
              HandEpisode(4, 1, 0, {}, EpisodeEnd::kMaxSteps)},
             1.0);
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_EQ(failed[0].task_id, 2);
  EXPECT_EQ(failed[1].task_id, 4);
  EXPECT_EQ(Failed({HandEpisode(2, 0, 0.5)}, 0.5).size(), 0U);
}

TEST(CutTrajectories, GivesTheFirstTurns) {
  const std::vector<EpisodeStart> starts =
      CutTrajectories({HandEpisode(7, 2, 0, kFive), HandEpisode(8, 0, 0, {"a", "b"}),
                       HandEpisode(9, 0, 0, {"a"}), HandEpisode(10, 0, 0)},
                      "3", 0, 100);
  ASSERT_EQ(starts.size(), 2U) << "one turn cannot be cut";
  EXPECT_EQ(starts[0].task_id, 7);
  EXPECT_EQ(starts[0].attempt, 2);
  ASSERT_EQ(starts[0].given.size(), 3U);
  EXPECT_EQ(starts[0].given[2].action, "c");
  EXPECT_EQ(starts[1].given.size(), 1U) << "the last turn is the model's";
}

TEST(CutTrajectories, DrawsTheCutFromTheSeed) {
  std::vector<Episode> episodes;
  for (int task_id = 0; task_id < 400; ++task_id)
    episodes.push_back(HandEpisode(task_id, 0, 0, kFive));
  const auto cuts = [&](uint64_t seed) {
    std::vector<size_t> sizes;
    for (const EpisodeStart& start : CutTrajectories(episodes, "seeded", seed, 100)) {
      sizes.push_back(start.given.size());
    }
    return sizes;
  };
  const std::vector<size_t> first = cuts(0);
  EXPECT_EQ(cuts(0), first);
  EXPECT_NE(cuts(1), first);
  for (size_t turns = 1; turns <= 4; ++turns) {
    EXPECT_NEAR(static_cast<double>(std::ranges::count(first, turns)), 100, 40) << turns;
  }
  // Of one trajectory it does not depend on the others.
  EXPECT_EQ(CutTrajectories({episodes[17]}, "seeded", 0, 100)[0].given.size(), first[17]);
}

TEST(CutTrajectories, RefusesOtherCuts) {
  for (const char* cut : {"", "random", "-1", "0", "3x", "1.5"}) {
    EXPECT_THROW(CutTrajectories({}, cut, 0, 100), FatalError) << cut;
  }
}

TEST(CutTrajectories, LeavesTheModelATurnWithinTheSteps) {
  const std::vector<Episode> five = {HandEpisode(1, 0, 0, kFive)};
  EXPECT_EQ(CutTrajectories(five, "4", 0, 3)[0].given.size(), 2U);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(CutTrajectories(five, "seeded", seed, 2)[0].given.size(), 1U);
  }
  EXPECT_TRUE(CutTrajectories(five, "seeded", 0, 1).empty());
}

TEST(FirstNotGoneOnFrom, ComparesTheGivenActions) {
  const std::vector<EpisodeStart> starts =
      CutTrajectories({HandEpisode(1, 0, 0, kFive), HandEpisode(1, 1, 0, kFive)}, "2", 0, 100);
  std::vector<Episode> episodes = {HandEpisode(1, 0, 1, {"a", "b", "x"}),
                                   HandEpisode(1, 1, 1, {"a", "b", "y", "z"}),
                                   HandEpisode(5, 0, 1, {"x"})};
  for (Episode& episode : episodes) episode.replayed_turns = 2;
  episodes[2].replayed_turns = 1;  // of another start
  EXPECT_EQ(FirstNotGoneOnFrom(episodes, starts), nullptr);
  episodes[1].turns[1].action = "c";
  EXPECT_EQ(FirstNotGoneOnFrom(episodes, starts), &episodes[1]);
  episodes[0].replayed_turns = 1;
  EXPECT_EQ(FirstNotGoneOnFrom(episodes, starts), &episodes[0]);
}

TEST(FirstNotGoneOnFrom, AReplayMayEndTheEpisodeEarly) {
  const std::vector<EpisodeStart> starts =
      CutTrajectories({HandEpisode(1, 0, 0, kFive)}, "3", 0, 100);
  std::vector<Episode> episodes = {HandEpisode(1, 0, 1, {"a", "b"})};
  episodes[0].replayed_turns = 2;
  EXPECT_EQ(FirstNotGoneOnFrom(episodes, starts), nullptr);
  episodes[0].turns[1].action = "x";
  EXPECT_EQ(FirstNotGoneOnFrom(episodes, starts), &episodes[0]);
}

TEST(JudgeRevisionTest, AnEndDuringTheReplayIsADifference) {
  const std::vector<Episode> before = {HandEpisode(1, 0, 0, kFive)};
  Episode after = HandEpisode(1, 0, 1, {"a", "b"});
  after.replayed_turns = 2;
  RevisionTest test = JudgeRevisionTest(before, {after}, 1.0);
  EXPECT_EQ(test.differences, 1U);
  EXPECT_EQ(test.differing, 1U);
  after.turns[1].observation = "another";
  after.replay_differences = 1;
  EXPECT_EQ(JudgeRevisionTest(before, {after}, 1.0).differences, 1U) << "of one turn";
  after = HandEpisode(1, 0, 0, {"a", "b"}, EpisodeEnd::kContextOverflow);
  after.replayed_turns = 2;
  EXPECT_EQ(JudgeRevisionTest(before, {after}, 1.0).differences, 0U);
}

TEST(JudgeRevisionTest, ComparesBeforeAndAfter) {
  const std::vector<Episode> before = {HandEpisode(1, 0, 0.5, kFive), HandEpisode(2, 0, 0, kFive),
                                       HandEpisode(2, 1, 0.25, kFive), HandEpisode(3, 0, 0)};
  std::vector<Episode> after = {HandEpisode(2, 0, 0.5), HandEpisode(1, 0, 1),
                                FailedEpisode(2, 1, "down"), HandEpisode(99, 0, 1)};
  after[0].replayed_turns = 3;
  after[0].replay_differences = 2;
  after[1].replayed_turns = 4;
  const RevisionTest test = JudgeRevisionTest(before, after, 1.0);
  EXPECT_EQ(test.trajectories, 4U);
  EXPECT_EQ(test.gone_on_from, 2U) << "one is not there, one ended in an error";
  EXPECT_EQ(test.reward_before, 0.25);
  EXPECT_EQ(test.reward_after, 0.75);
  EXPECT_EQ(test.turned, 1U);
  EXPECT_EQ(test.replayed_turns, 7U);
  EXPECT_EQ(test.differences, 2U);
  EXPECT_EQ(test.differing, 1U);
  const std::string table = RevisionTable(test);
  EXPECT_THAT(table, HasSubstr("2 of 4 failed trajectories"));
  EXPECT_THAT(table, HasSubstr("0.250 before, 0.750 after"));
  EXPECT_THAT(table, HasSubstr("1 (50.0 %)"));
  EXPECT_THAT(RevisionTable(JudgeRevisionTest({}, {}, 1.0)), HasSubstr("0 (0.0 %)"));
}

}  // namespace
}  // namespace agentr
