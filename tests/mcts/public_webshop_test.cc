// Searches over HTTP on a WebShop server as the public one: no forks, no /close.
#include "tests/tasks/public_webshop.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "clients/env/http_environment.h"
#include "mcts/collector.h"
#include "rollout/replay_executor.h"
#include "tasks/scripted_model.h"
#include "tasks/task_kinds.h"
#include "tasks/webshop/webshop_family.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

struct Shop {
  Shop() : http(MakeProtocol("webshop"), {server.url()}, HttpOptions{}) {}

  PublicWebShop server;
  WebShopFamily family;
  HttpEnvironment http;
  std::atomic<bool> stop = false;
};

TEST(PublicWebShopTest, TenTasksShareThreeSessions) {
  Shop shop;
  const auto model = MakeScriptedModel("planner", shop.family, {});
  const ScratchFolder folder;
  FileTreeStore store(folder.path(), TreeFormat::kCompact);
  SearchOptions search;
  search.max_depth = 8;
  search.iterations = 3;
  ParallelismOptions options;
  options.in_flight = 4;
  options.sessions = 3;
  std::vector<int> tasks(10);
  std::iota(tasks.begin(), tasks.end(), 0);
  const CollectReport report = Collector(shop.family, shop.http, *model, store, search, options,
                                         {"webshop", 0, model->name(), "", ""})
                                   .Run(tasks, shop.stop);
  EXPECT_EQ(report.finished, 10);
  EXPECT_EQ(report.execution.mismatches, 0) << "what was called unchanged was";
  EXPECT_EQ(report.execution.faults, 0);
  EXPECT_LE(shop.server.calls("/create"), 3);
  EXPECT_GE(shop.server.calls("/create"), 1);
  EXPECT_GE(shop.server.calls("/reset"), 10);
  EXPECT_LE(shop.server.calls("/close"), 1) << "once it has answered 404";
  std::set<double> rewards;
  for (const int task_id : tasks) {
    const Tree tree = store.Load(task_id);
    for (int i = 0; i < tree.size(); ++i) rewards.insert(tree.node(i).reward);
  }
  EXPECT_GE(rewards.size(), 3u);
}

TEST(PublicWebShopTest, AChosenOptionIsAStateThoughThePageIsTheSame) {
  Shop shop;
  SessionPool pool(shop.http, 1);
  ReplayExecutor executor(/*task=*/0, pool, shop.family, shop.stop);
  ASSERT_TRUE(executor.Start());
  int state = StateTree::kRoot;
  const auto take = [&](const std::string& action) {
    EXPECT_TRUE(executor.Execute(state, {action}, false));
    return *executor.states().Find(state, action);
  };
  for (const char* action : {"search[shoes]", "click[b000000001]"}) state = take(action).state;
  const StateTree::Transition absent = take("click[green]");
  EXPECT_EQ(absent.state, state);
  const StateTree::Transition chosen = take("click[navy blue]");
  EXPECT_EQ(chosen.result.observation, absent.result.observation);
  EXPECT_NE(chosen.state, state);
  const StepResult plain = take("click[buy now]").result;
  state = chosen.state;
  EXPECT_EQ(take("click[green]").state, state) << "compared with the page of its own state";
  const StepResult with_colour = take("click[buy now]").result;
  EXPECT_TRUE(plain.done && with_colour.done);
  EXPECT_LT(plain.reward, with_colour.reward);
}

}  // namespace
}  // namespace agentr
