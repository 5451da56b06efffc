// Searches over HTTP on a small SciWorld: disasters, sessions that have ended, snapping.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "clients/env/gold_source.h"
#include "clients/env/http_environment.h"
#include "mcts/collector.h"
#include "mcts/mcts_collect.h"
#include "rollout/replay_executor.h"
#include "tasks/sciworld/sciworld_family.h"
#include "tasks/scripted_model.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/small_sciworld_server.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct House {
  House()
      : http(MakeProtocol("sciworld"), {server.url()}, HttpOptions{}),
        gold(MakeHttpGold(MakeProtocol("sciworld"), {server.url()}, HttpOptions{})) {}

  // The trees of all tasks.
  std::vector<Tree> Collect(LanguageModel& model, const SearchOptions& search, int in_flight = 3) {
    const ScratchFolder folder;
    FileTreeStore store(folder.path(), TreeFormat::kCompact);
    ParallelismOptions options;
    options.in_flight = in_flight;
    options.sessions = 3;
    std::vector<int> tasks(SmallSciWorld::kTasks);
    std::iota(tasks.begin(), tasks.end(), 0);
    report = Collector(family, http, model, store, search, options,
                       {"sciworld", 0, model.name(), "", ""})
                 .Run(tasks, stop);
    std::vector<Tree> trees;
    for (const int task_id : tasks) trees.push_back(store.Load(task_id));
    return trees;
  }

  SmallSciWorldServer server;
  SciWorldFamily family;
  HttpEnvironment http;
  std::unique_ptr<GoldSource> gold;
  std::atomic<bool> stop = false;
  CollectReport report;  // of the last Collect
};

SearchOptions Search12() {
  SearchOptions search;
  search.max_depth = 12;
  return search;
}

TEST(SciWorldSearch, ThePlannerFindsGoodAndBadLeavesAndDisasters) {
  House house;
  const auto model = MakeScriptedModel("planner", house.family, {}, house.gold.get());
  const std::vector<Tree> trees = house.Collect(*model, Search12());
  EXPECT_EQ(house.report.finished, SmallSciWorld::kTasks);
  EXPECT_EQ(house.report.execution.mismatches, 0) << "what was called unchanged was";
  EXPECT_EQ(house.report.execution.faults, 0);
  EXPECT_EQ(house.server.steps_after_done(), 0);
  EXPECT_EQ(house.server.calls("/gold"), SmallSciWorld::kTasks) << "once per task";
  int good = 0;
  int bad = 0;
  int disasters = 0;
  for (const Tree& tree : trees) {
    for (const Node& node : tree.nodes()) {
      if (node.end == End::kNone) continue;
      ++(node.reward >= 1 ? good : bad);
      if (node.end != End::kDisaster) continue;
      ++disasters;
      EXPECT_EQ(node.reward, 0);
      EXPECT_TRUE(node.terminal);
      EXPECT_TRUE(node.children.empty());
      EXPECT_THAT(node.action, HasSubstr("focus on "));
    }
    EXPECT_EQ(tree.root().observation.find("Task description:\n"), 0u);
    for (int i = 1; i < tree.size(); ++i) {
      EXPECT_EQ(tree.node(i).observation.find_first_of("\n\t"), std::string::npos);
    }
  }
  EXPECT_GT(good, 6);
  EXPECT_GT(bad, 6);
  EXPECT_GT(disasters, 3);
}

TEST(SciWorldSearch, TreesDoNotDependOnParallelism) {
  std::vector<std::string> first;
  for (const int in_flight : {1, 6}) {
    House house;
    const auto model = MakeScriptedModel("planner", house.family, {}, house.gold.get());
    std::vector<std::string> texts;
    for (const Tree& tree : house.Collect(*model, Search12(), in_flight)) {
      std::string& text = texts.emplace_back();
      for (const Node& node : tree.nodes()) text += node.response + "|" + node.observation + "\n";
    }
    if (first.empty()) first = texts;
    EXPECT_EQ(texts, first);
  }
}

TEST(SciWorldSearch, TasksThatBeginAlikeHaveTheirOwnPlans) {
  House house;
  const auto model =
      MakeScriptedModel("planner", house.family, {.error_rate = 0}, house.gold.get());
  const std::vector<Tree> trees = house.Collect(*model, Search12());
  EXPECT_EQ(trees[0].root().observation, trees[1].root().observation);
  EXPECT_EQ(trees[0].node(0).visits > 0 ? trees[0].root().value : 0, trees[0].root().visits);
  const auto depth = [](const Tree& tree) {
    int most = 0;
    for (const Node& node : tree.nodes()) most = std::max(most, node.depth);
    return most;
  };
  EXPECT_EQ(depth(trees[0]), depth(trees[1]) + 1) << "one door less to open";
}

TEST(SciWorldSearch, SnappingExecutesTheNearestValidAction) {
  House house;
  SearchOptions search = Search12();
  search.snap_actions = true;
  search.iterations = 2;
  const auto model = MakeScriptedModel("random", house.family, {});
  const std::vector<Tree> trees = house.Collect(*model, search);
  EXPECT_EQ(house.report.finished, SmallSciWorld::kTasks);
  EXPECT_EQ(house.report.execution.mismatches, 0);
  EXPECT_GT(house.server.calls("/valid_actions"), 0);
  int replaced = 0;
  for (const Tree& tree : trees) {
    for (int i = 1; i < tree.size(); ++i) {
      const Node& node = tree.node(i);
      const std::string said = house.family.ParseAction(node.response);
      if (said == node.action) continue;
      ++replaced;
      const std::vector<int> path = tree.Path(i);
      for (size_t back = 2; back <= 4 && back < path.size(); ++back) {
        EXPECT_NE(tree.node(path[path.size() - back]).action, node.action)
            << "one of the last three";
      }
    }
  }
  EXPECT_GT(replaced, 20) << "the response keeps what was said";
}

TEST(SciWorldSearch, ValidActionsAreThoseOfTheStateAskedOnce) {
  House house;
  SessionPool pool(house.http, 1);
  ReplayExecutor executor(/*task=*/2, pool, house.family, house.stop);
  ASSERT_TRUE(executor.Start());
  ASSERT_TRUE(executor.Execute(StateTree::kRoot, {"go to kitchen"}, false));
  const int kitchen = executor.states().Find(StateTree::kRoot, "go to kitchen")->state;
  SmallSciWorld there(2);
  EXPECT_EQ(executor.ValidActions(StateTree::kRoot).value(), there.ValidActions());
  there.Step("go to kitchen");
  EXPECT_EQ(executor.ValidActions(kitchen).value(), there.ValidActions());
  house.server.Forget();
  ASSERT_TRUE(executor.Execute(kitchen, {"wait"}, false)) << "a lost session is made up for";
  house.server.Forget();
  const int waited = executor.states().Find(kitchen, "wait")->state;
  EXPECT_EQ(executor.ValidActions(waited).value(), there.ValidActions());
  EXPECT_TRUE(executor.ValidActions(kitchen));
  EXPECT_EQ(house.server.calls("/valid_actions"), 4) << "two and two, one of them in vain";
}

TEST(SciWorldSearch, TaskTypesSelectIds) {
  MctsCollectOptions options;
  options.environment.task = "sciworld";
  options.split = SplitPart::kAll;
  options.task_type = {"1-3"};
  options.max = 3;
  EXPECT_THAT(TaskIds(options, 4639), ElementsAre(60, 61, 62));
  options.min = 29;
  options.max = 200;
  EXPECT_THAT(TaskIds(options, 4639), ElementsAre(89));
  options.task_type = {"8-2", "1-1"};
  EXPECT_THAT(TaskIds(options, 4639).front(), 29);
  EXPECT_EQ(TaskIds(options, 4639).size(), 11u);
  EXPECT_EQ(TaskIds(options, 4630).back(), 4629) << "as many as the server has";
  options.task_type = {"2-1"};
  options.min = 0;
  options.max = 540;
  EXPECT_EQ(TaskIds(options, 0).size(), 540u);
  options.split = SplitPart::kTrain;
  EXPECT_LT(TaskIds(options, 0).size(), 540u) << "without the test ids";
  options.task_type = {"0-0"};
  EXPECT_THROW(TaskIds(options, 0), FatalError);
  options.environment.task = "textcraft";
  options.task_type = {"1-1"};
  EXPECT_THROW(TaskIds(options, 0), FatalError);
}

TEST(SciWorldSearch, WithoutExtensionsThePlannerAndSnappingSayWhatHelps) {
  SmallSciWorldServer server(/*extensions=*/false);
  const auto make = [&] { MakeHttpGold(MakeProtocol("sciworld"), {server.url()}, HttpOptions{}); };
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, make), HasSubstr("env_server --task sciworld"));
}

}  // namespace
}  // namespace agentr
