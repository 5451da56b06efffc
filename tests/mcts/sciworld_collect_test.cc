// The job of mcts_collect on a small SciWorld server, from options to trees on disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/wiring.h"
#include "clients/fake_environment.h"
#include "common/file.h"
#include "common/options.h"
#include "mcts/mcts_collect.h"
#include "rollout/replay_executor.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tests/clients/env/small_sciworld_server.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/mcts/toy_environment.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

// mcts_collect with these options.
ExitCode CollectWith(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"mcts_collect", "--task", "sciworld"});
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  MctsCollectOptions options;
  OptionSet set("mcts_collect", "");
  Declare(set, options);
  if (const auto exit = set.Parse(static_cast<int>(argv.size()), argv.data())) return *exit;
  const ModelFolderOptions local;
  ProgramWorkbench workbench(local);
  return MctsCollect(options, set, workbench);
}

std::string RefusalOf(const std::vector<std::string>& arguments) {
  return FatalErrorOf(ExitCode::kUsage, [&] { CollectWith(arguments); });
}

TEST(SciWorldCollect, TheDefaultsWork) {
  SmallSciWorldServer server;
  const ScratchFolder folder;
  const std::string out = folder.path().string();
  const std::vector<std::string> line = {
      "--env_server_base", server.url(), "--output_dir", out, "--min", "0", "--max", "20"};
  EXPECT_EQ(CollectWith(line), ExitCode::kOk);
  const auto result = folder.path() / "sciworld" / "planner";
  for (int task_id = 0; task_id < SmallSciWorld::kTasks; ++task_id) {
    EXPECT_TRUE(
        std::filesystem::exists(result / ("search_results_" + std::to_string(task_id) + ".json")));
  }
  const auto run = nlohmann::json::parse(ReadFile(result / "run.json"))["runs"].back();
  EXPECT_EQ(run["result"]["finished"], SmallSciWorld::kTasks) << "as many as the server has";
  EXPECT_EQ(run["result"]["environment"]["mismatches"], 0);
  EXPECT_EQ(run["environment_http"]["errors"], nlohmann::json::object());
  EXPECT_EQ(server.steps_after_done(), 0);
}

TEST(SciWorldCollect, TaskTypesAndSnappingAreOptions) {
  SmallSciWorldServer server;
  const ScratchFolder folder;
  const std::string out = folder.path().string();
  EXPECT_EQ(CollectWith({"--env_server_base", server.url(), "--output_dir", out, "--task_type",
                         "1-1", "--min", "2", "--max", "4", "--snap_actions", "--model_name",
                         "random", "--iterations", "1"}),
            ExitCode::kOk);
  const auto run = nlohmann::json::parse(
      ReadFile(folder.path() / "sciworld" / "random" / "run.json"))["runs"][0];
  EXPECT_EQ(run["result"]["finished"], 2);
  EXPECT_THAT(run["search"].get<std::string>(), HasSubstr("\"snap_actions\":true"));
  EXPECT_GT(server.calls("/valid_actions"), 0);
  EXPECT_EQ(server.calls("/gold"), 0) << "only the planner asks for it";
}

TEST(SciWorldCollect, SaysWhatAServerLacks) {
  SmallSciWorldServer server(/*extensions=*/false);
  const std::vector<std::string> at = {"--env_server_base", server.url(), "--output_dir",
                                       "/proc/none"};
  EXPECT_THAT(RefusalOf(at), HasSubstr("no extension \"gold\""));
  std::vector<std::string> snap = at;
  snap.insert(snap.end(), {"--model_name", "random", "--snap_actions"});
  EXPECT_THAT(RefusalOf(snap), HasSubstr("the extension \"valid_actions\""));
  std::vector<std::string> type = at;
  type.insert(type.end(), {"--model_name", "random", "--task_type", "9-9"});
  EXPECT_THAT(RefusalOf(type), HasSubstr("unknown --task_type \"9-9\""));
}

TEST(Disasters, TheirSessionIsTheFirstToBeReset) {
  ToyEnvironment world;
  const ToyFamily family;
  std::atomic<bool> stop = false;
  SessionPool pool(world, 2);
  ReplayExecutor executor(/*task=*/1, pool, family, stop);
  ASSERT_TRUE(executor.Start());
  ASSERT_TRUE(executor.Execute(StateTree::kRoot, {"gain -1"}, false));
  ASSERT_TRUE(executor.Execute(StateTree::kRoot, {"gain 0"}, false));
  EXPECT_EQ(world.counts.opens, 1) << "nobody goes on behind a disaster";
}

TEST(Disasters, AreNoReturnToTheSameState) {
  FakeEnvironment world(false, [](int, const std::vector<std::string>& actions) {
    return StepResult{"Inventory: nothing", actions.empty() ? 0.0 : -1.0, false};
  });
  const TextCraftFamily family;
  std::atomic<bool> stop = false;
  SessionPool pool(world, 1);
  ReplayExecutor executor(/*task=*/1, pool, family, stop);
  ASSERT_TRUE(executor.Start());
  ASSERT_TRUE(executor.Execute(StateTree::kRoot, {"inventory"}, false));
  EXPECT_NE(executor.states().Find(StateTree::kRoot, "inventory")->state, StateTree::kRoot);
}

}  // namespace
}  // namespace agentr
