// Episodes over HTTP on a small SciWorld: scores, disasters, snapping.
#include <gtest/gtest.h>

#include "clients/env/gold_source.h"
#include "clients/env/http_environment.h"
#include "rollout/episode_player.h"
#include "rollout/replay_executor.h"
#include "tasks/sciworld/sciworld_family.h"
#include "tasks/scripted_model.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/small_sciworld_server.h"

namespace agentr {
namespace {

struct PlayedHouse {
  PlayedHouse() : http(MakeProtocol("sciworld"), {server.url()}, HttpOptions{}), pool(http, 2) {}

  Episode Play(LanguageModel& model, int task_id, const PlayOptions& options) {
    ReplayExecutor executor(task_id, pool, family, stop);
    return EpisodePlayer(options, {task_id, 0, {}}, {family, model, executor, stop}).Run().value();
  }

  SmallSciWorldServer server;
  SciWorldFamily family;
  HttpEnvironment http;
  SessionPool pool;
  std::atomic<bool> stop = false;
};

TEST(SciWorldPolicy, ThePlannerWithoutMistakesSolvesEveryTask) {
  PlayedHouse house;
  const auto gold = MakeHttpGold(MakeProtocol("sciworld"), {house.server.url()}, HttpOptions{});
  const auto model = MakeScriptedModel("planner", house.family, {.error_rate = 0}, gold.get());
  for (int task_id = 0; task_id < SmallSciWorld::kTasks; ++task_id) {
    const Episode episode = house.Play(*model, task_id, {});
    EXPECT_EQ(episode.end, EpisodeEnd::kDone) << task_id;
    EXPECT_EQ(episode.reward, 1) << task_id;
  }
  EXPECT_EQ(house.server.steps_after_done(), 0);
}

TEST(SciWorldPolicy, SnappingTakesTheNearestValidAction) {
  PlayedHouse house;
  const auto model = MakeScriptedModel("random", house.family, {});
  PlayOptions options;
  options.max_steps = 30;
  const auto replaced = [&] {
    int count = 0;
    for (int task_id = 0; task_id < SmallSciWorld::kTasks; ++task_id) {
      for (const EpisodeTurn& turn : house.Play(*model, task_id, options).turns) {
        count += turn.action != house.family.ParseAction(turn.response) ? 1 : 0;
      }
    }
    return count;
  };
  EXPECT_EQ(replaced(), 0);
  EXPECT_EQ(house.server.calls("/valid_actions"), 0);
  options.snap_actions = true;
  EXPECT_GT(replaced(), 20) << "the response keeps what was said";
}

}  // namespace
}  // namespace agentr
