// mcts_collect on the real SciWorld simulator; skipped where Java or the jar is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "clients/env/http_environment.h"
#include "common/file.h"
#include "common/random.h"
#include "servers/sciworld/sciworld_tasks.h"
#include "tasks/sciworld/sciworld_tasks.h"
#include "tasks/task_kinds.h"
#include "tests/cli/program.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/http/fault_proxy.h"
#include "tests/servers/sciworld/java_setup.h"

namespace agentr {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SciWorldTables, ClientAndServerNumberTheSameTasks) {
  const auto& client = SciWorldTaskTypes();
  const auto server = SimulatorTaskTypes();
  ASSERT_EQ(client.size(), server.size());
  for (size_t i = 0; i < client.size(); ++i) {
    EXPECT_EQ(client[i].id, server[i].id);
    EXPECT_EQ(client[i].name, server[i].name);
    EXPECT_EQ(client[i].count, server[i].variations);
  }
}

class SciWorldRun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = testing::WhatIsMissing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }

  // Two short tasks, on the server at `url`.
  static Arguments Collect(const std::string& url, const Arguments& more = {}) {
    return Words("--task sciworld --task_type 4-2 --min 0 --max 2 --iterations 2 --max_depth 6") +
           Arguments{"--env_server_base", url} + more;
  }

  static std::map<std::string, std::string> Trees(const Arguments& line) {
    const ScratchFolder folder;
    const Outcome outcome = RunProgram("mcts_collect", line, folder.path());
    EXPECT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
    EXPECT_THAT(TemporaryFiles(folder.path()), IsEmpty());
    return TreeFiles(folder.path());
  }
};

TEST_F(SciWorldRun, OnTheEmbeddedServerWithNothingElseSet) {
  const ScratchFolder folder;
  const Outcome outcome = RunProgram(
      "mcts_collect", {"--task", "sciworld", "--min", "0", "--max", "1", "--iterations", "1"},
      folder.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(TreeFiles(folder.path()), SizeIs(1));
  const auto run = nlohmann::json::parse(
                       ReadFile(folder.path() / "mcts_result/sciworld/planner/run.json"))["runs"]
                       .back();
  EXPECT_EQ(run["result"]["environment"]["mismatches"], 0);
  EXPECT_GT(run["result"]["environment"]["expansions"], 0);
}

TEST_F(SciWorldRun, TreesDependOnNeitherSessionsNorFaults) {
  const auto server = StartServer("sciworld");
  const auto expected = Trees(Collect(server->base_url(), {"--sessions", "1"}));
  EXPECT_THAT(expected, SizeIs(2));
  EXPECT_EQ(Trees(Collect(server->base_url(), {"--sessions", "8"})), expected);

  FaultRates rates;
  rates.drop_before = rates.drop_after = rates.delay = rates.status_500 = rates.garble = 0.04;
  rates.delay_s = 0.002;
  const FaultProxy proxy(server->base_url(), rates, /*seed=*/7);
  EXPECT_EQ(Trees(Collect(proxy.url())), expected);
  EXPECT_GT(proxy.count(Fault::kDropAfter), 0);
  EXPECT_GT(proxy.count(Fault::kGarble), 0);
}

// In these tasks objects have the same names, and the simulator numbers them: what it offers must
// be a function of the state, not of the session that is asked.
TEST_F(SciWorldRun, SnappedTreesDoNotDependOnSessions) {
  const auto trees = [](const std::string& sessions) {
    return Trees({"--task", "sciworld", "--model_name", "random", "--split", "all", "--min", "2462",
                  "--max", "2464", "--snap_actions", "--iterations", "1", "--max_depth", "5",
                  "--sessions", sessions});
  };
  const auto expected = trees("1");
  EXPECT_THAT(expected, SizeIs(2));
  EXPECT_EQ(trees("64"), expected);
}

TEST_F(SciWorldRun, KilledClientAndServerLoseNothing) {
  const ScratchFolder folder;
  auto server = std::make_unique<Program>(
      "env_server", Arguments{"--task", "sciworld", "--port", "0"}, folder.path());
  const std::string url = server->WaitForUrl();
  const auto expected = Trees(Collect(url));

  const auto kill_while_running = [&](bool the_server) {
    Program run("mcts_collect", Collect(url, {"--env_attempts", "2"}), folder.path());
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    EXPECT_TRUE(run.Running()) << "too late to kill anything";
    (the_server ? *server : run).Signal(SIGKILL);
    EXPECT_NE(run.Wait().exit, 0);
    for (const auto& [name, text] : TreeFiles(folder.path())) EXPECT_EQ(text, expected.at(name));
  };
  kill_while_running(/*the_server=*/false);
  kill_while_running(/*the_server=*/true);
  const std::string port = url.substr(url.rfind(':') + 1);
  server.reset();
  server = std::make_unique<Program>("env_server", Arguments{"--task", "sciworld", "--port", port},
                                     folder.path());
  server->WaitForUrl();
  const Outcome last = RunProgram("mcts_collect", Collect(url), folder.path());
  EXPECT_EQ(last.exit, 0) << last.err;
  EXPECT_EQ(TreeFiles(folder.path()), expected);
}

// One of the `valid` actions, often of those that change what is seen; or one that changes nothing.
std::string PlausibleAction(const std::vector<std::string>& valid, RandomStream& random) {
  std::vector<std::string> telling;
  for (const std::string& action : valid) {
    if (action.starts_with("open ") || action.starts_with("pick up ")) telling.push_back(action);
  }
  const std::string any = valid.at(random.Below(valid.size()));
  switch (random.Below(6)) {
    case 0:
      return "task";
    case 1:
      return any + " twice";
    case 2:
      return any;
    default:
      return telling.empty() ? any : telling.at(random.Below(telling.size()));
  }
}

// What the family calls unchanged may be left out, and everything else stays as it was.
TEST_F(SciWorldRun, UnchangedRepliesLeaveTheSimulatorAsItWas) {
  const auto server = StartServer("sciworld");
  HttpEnvironment environment(MakeProtocol("sciworld"), {server->base_url()}, HttpOptions{});
  const auto family = MakeTaskFamily("sciworld");
  RandomStream random(5);
  int unchanged = 0;
  for (const int task_id : {0, 400, 1700, 3000, 4600}) {
    const auto all = environment.Open().value();
    const auto needed = environment.Open().value();
    std::string shown = all->Reset(task_id).value();
    ASSERT_EQ(needed->Reset(task_id).value(), shown);
    for (int turn = 0; turn < 20; ++turn) {
      const std::string action = PlausibleAction(all->Query("valid_actions").value(), random);
      const StepResult step = all->Step(action).value();
      if (step.done) break;
      if (family->LeavesStateUnchanged(shown, action, step.observation)) {
        ++unchanged;
      } else {
        ASSERT_EQ(needed->Step(action).value(), step) << "task " << task_id << ", " << action;
        shown = step.observation;
      }
      for (const char* const probe : {"look around", "inventory"}) {
        ASSERT_EQ(needed->Step(probe).value(), all->Step(probe).value())
            << "task " << task_id << ", after " << action;
      }
    }
  }
  EXPECT_GT(unchanged, 20);
}

}  // namespace
}  // namespace agentr
