#include "eval/evaluation_plan.h"

#include <gmock/gmock.h>

#include "common/error.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::vector<std::string> kFour = {"a", "b", "c", "d"};

std::vector<std::pair<int, int>> Ids(const std::vector<EpisodeStart>& starts) {
  std::vector<std::pair<int, int>> ids;
  for (const EpisodeStart& start : starts) ids.emplace_back(start.task_id, start.attempt);
  return ids;
}

std::vector<StoredEpisode> Stored(const std::vector<Episode>& episodes,
                                  const std::string& task = "toy") {
  std::vector<StoredEpisode> stored;
  for (const Episode& episode : episodes)
    stored.push_back({episode, R"({"task":")" + task + "\"}"});
  return stored;
}

RevisionTestOptions CutAtTwo() { return {"old", "toy", 1.0, "2", 0, 100}; }

TEST(PlanAttempts, TriesEachTaskInOrder) {
  const EvaluationPlan plan = PlanAttempts({4, 2}, 2, {{"seed", 7}});
  EXPECT_THAT(Ids(plan.starts), ElementsAre(Pair(4, 0), Pair(4, 1), Pair(2, 0), Pair(2, 1)));
  EXPECT_TRUE(plan.starts[0].given.empty());
  EXPECT_TRUE(plan.trajectories.empty());
  EXPECT_EQ(plan.played_with.dump(), R"({"seed":7})");
}

TEST(PlanRevisionTest, GoesOnFromFailedEpisodes) {
  const auto earlier = Stored({HandEpisode(1, 0, 1, kFour), HandEpisode(2, 1, 0.5, kFour),
                               FailedEpisode(3, 0, "down"), HandEpisode(4, 0, 0, kFour)});
  const EvaluationPlan plan = PlanRevisionTest(CutAtTwo(), earlier, {}, {{"seed", 7}});
  EXPECT_THAT(Ids(plan.starts), ElementsAre(Pair(2, 1), Pair(4, 0)));
  EXPECT_EQ(plan.trajectories.size(), 2U);
  ASSERT_EQ(plan.starts[0].given.size(), 2U);
  EXPECT_EQ(plan.starts[0].given[1].action, "b");
  EXPECT_EQ(plan.played_with.dump(), R"({"seed":7,"cut":"2"})");
}

TEST(PlanRevisionTest, KeepsToTheTasksAskedFor) {
  const auto earlier = Stored({HandEpisode(2, 0, 0, kFour), HandEpisode(4, 0, 0, kFour)});
  const EvaluationPlan plan =
      PlanRevisionTest(CutAtTwo(), earlier, std::vector<int>{4, 9}, nlohmann::ordered_json());
  EXPECT_THAT(Ids(plan.starts), ElementsAre(Pair(4, 0)));
  EXPECT_EQ(plan.trajectories.size(), 1U) << "what is not played is not counted either";
}

TEST(PlanRevisionTest, RefusesWhatHasNothingToGoOnFrom) {
  const auto refusal = [](const std::vector<StoredEpisode>& earlier, const RevisionTestOptions& o,
                          const std::optional<std::vector<int>>& only = {}) {
    return FatalErrorOf(ExitCode::kUsage,
                        [&] { PlanRevisionTest(o, earlier, only, nlohmann::ordered_json()); });
  };
  EXPECT_THAT(refusal(Stored({HandEpisode(1, 0, 0, kFour)}, "webshop"), CutAtTwo()),
              HasSubstr("--revision_from old: it contains episodes of webshop, not of toy"));
  EXPECT_THAT(refusal(Stored({HandEpisode(1, 0, 1, kFour)}), CutAtTwo()),
              HasSubstr("no episode there has a reward below 1"));
  const std::string none = "--revision_from old: no failed episode of the selected tasks";
  EXPECT_THAT(refusal(Stored({HandEpisode(1, 0, 0, {"a"})}), CutAtTwo()), HasSubstr(none));
  EXPECT_THAT(refusal(Stored({HandEpisode(1, 0, 0, kFour)}), CutAtTwo(), std::vector<int>{2}),
              HasSubstr(none));
  RevisionTestOptions one_step = CutAtTwo();
  one_step.max_steps = 1;
  EXPECT_THAT(refusal(Stored({HandEpisode(1, 0, 0, kFour)}), one_step),
              HasSubstr("within --max_steps 1"));
}

TEST(CheckFolder, NamesAnEpisodeOfAnotherTrajectory) {
  const ScratchFolder folder;
  FileEpisodeStore store(folder.path(), "{}");
  ASSERT_EQ(store.TryClaim(2, 0), Claim::kMine);
  Episode played = HandEpisode(2, 0, 1, {"a", "x", "y"});
  played.replayed_turns = 2;
  store.Commit(played);
  const auto refusal = [&](const std::vector<std::string>& actions) {
    const EvaluationPlan plan = PlanRevisionTest(
        CutAtTwo(), Stored({HandEpisode(2, 0, 0, actions)}), {}, nlohmann::ordered_json());
    return FatalErrorOf(ExitCode::kUsage, [&] { CheckFolder(store, plan); });
  };
  EXPECT_EQ(refusal({"a", "x", "z"}), "");
  EXPECT_THAT(refusal(kFour),
              HasSubstr(store.PathOf(2, 0).string() + " continues another trajectory"));
}

TEST(EpisodesOf, AreThoseOfThePlan) {
  const EvaluationPlan plan = PlanAttempts({1, 2, 3}, 1, nlohmann::ordered_json());
  const std::vector<Episode> stored = {HandEpisode(1, 0, 1), HandEpisode(1, 1, 1),
                                       HandEpisode(9, 0, 1), HandEpisode(3, 0, 0.5)};
  const std::vector<Episode> failed = {FailedEpisode(2, 0, "down"), FailedEpisode(3, 0, "down")};
  const std::vector<Episode> episodes = EpisodesOf(plan, stored, failed);
  ASSERT_EQ(episodes.size(), 3U);
  EXPECT_EQ(episodes[0].task_id, 1);
  EXPECT_EQ(episodes[1].reward, 0.5) << "another run has played task 3 meanwhile";
  EXPECT_EQ(episodes[2].error, "down");
  EXPECT_EQ(episodes[2].task_id, 2);
}

}  // namespace
}  // namespace agentr
