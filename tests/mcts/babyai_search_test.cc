// Searches over HTTP on a BabyAI server as AgentGym's: no forks, no scripted model, no split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "clients/env/http_environment.h"
#include "clients/fake_language_model.h"
#include "common/random.h"
#include "mcts/collector.h"
#include "mcts/mcts_collect.h"
#include "tasks/babyai/babyai_family.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/env/small_babyai_server.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

// Mostly something that the last observation offers.
std::vector<std::string> Wander(std::span<const Message> prompt, int n,
                                const SamplingParams& sampling) {
  RandomStream random(sampling.seed);
  const std::vector<std::string_view> offered = BabyAiActions(prompt.back().content);
  std::vector<std::string> texts;
  for (int i = 0; i < n; ++i) {
    const std::string_view action = random.Chance(0.8) ? random.Pick(offered) : "jump";
    texts.push_back("Thought: let me see.\nAction: " + std::string(action));
  }
  return texts;
}

struct Searched {
  CollectReport report;
  std::vector<Tree> trees;
};

Searched SearchTwelve(const std::string& url, int sessions, const SlipOptions& slips = {}) {
  const BabyAiFamily family;
  HttpEnvironment environment(MakeProtocol("babyai"), {url}, HttpOptions{});
  FakeLanguageModel model(Wander);
  const ScratchFolder folder;
  FileTreeStore store(folder.path(), TreeFormat::kCompact);
  SearchOptions search;
  search.max_depth = 10;
  search.iterations = 6;
  search.slips = slips;
  ParallelismOptions options;
  options.in_flight = 4;
  options.sessions = sessions;
  std::vector<int> tasks(12);
  std::iota(tasks.begin(), tasks.end(), 0);
  std::atomic<bool> stop = false;
  Searched searched;
  searched.report = Collector(family, environment, model, store, search, options,
                              {"babyai", 0, model.name(), "", ""})
                        .Run(tasks, stop);
  for (const int task_id : tasks) searched.trees.push_back(store.Load(task_id));
  return searched;
}

TEST(BabyAiSearchTest, TwelveTasksShareThreeSessions) {
  SmallBabyAiServer server;
  const Searched searched = SearchTwelve(server.url(), 3);
  EXPECT_EQ(searched.report.finished, 12);
  EXPECT_EQ(searched.report.execution.mismatches, 0) << "what was called unchanged was";
  EXPECT_EQ(searched.report.execution.faults, 0);
  EXPECT_LE(server.calls("/create"), 3);
  EXPECT_EQ(server.calls("/close"), server.calls("/create"));
  int reached = 0, refused = 0;
  for (const Tree& tree : searched.trees) {
    EXPECT_THAT(tree.root().observation, HasSubstr("Your goal: "));
    for (int i = 1; i < tree.size(); ++i) {
      reached += tree.node(i).reward > 0.5;
      refused += BabyAiFamily().IsRefusal("", "", tree.node(i).observation);
    }
  }
  EXPECT_GT(reached, 12);
  EXPECT_GT(refused, 12);
}

TEST(BabyAiSearchTest, HowManySessionsThereAreDoesNotShowInTheTrees) {
  SmallBabyAiServer server;
  const Searched one = SearchTwelve(server.url(), 1), many = SearchTwelve(server.url(), 8);
  for (size_t task_id = 0; task_id < one.trees.size(); ++task_id) {
    ASSERT_EQ(one.trees[task_id].size(), many.trees[task_id].size());
    for (int i = 0; i < one.trees[task_id].size(); ++i) {
      EXPECT_EQ(one.trees[task_id].node(i).observation, many.trees[task_id].node(i).observation);
      EXPECT_EQ(one.trees[task_id].node(i).reward, many.trees[task_id].node(i).reward);
    }
  }
}

TEST(BabyAiSearchTest, ASlipDoesSomethingElseBesideWhatWasMeant) {
  const auto server = StartServer("babyai");
  const BabyAiFamily family;
  for (const SlipKind kind : {SlipKind::kRandom, SlipKind::kRefused}) {
    const SlipOptions slips = {.probability = 0.3, .kind = kind};
    const Searched one = SearchTwelve(server->base_url(), 3, slips);
    const Searched again = SearchTwelve(server->base_url(), 2, slips);
    int nodes = 0, slipped = 0;
    for (size_t task_id = 0; task_id < one.trees.size(); ++task_id) {
      const Tree& tree = one.trees[task_id];
      ASSERT_EQ(tree.size(), again.trees[task_id].size());
      for (int i = 1; i < tree.size(); ++i) {
        const Node& node = tree.node(i);
        EXPECT_EQ(node.response, again.trees[task_id].node(i).response);
        EXPECT_EQ(family.ParseAction(node.response), node.action);
        ++nodes;
        if (!node.slip) continue;
        ++slipped;
        EXPECT_NE(node.slip->said, node.action);
        EXPECT_EQ(family.ParseAction(node.slip->response), node.slip->said);
        EXPECT_TRUE(std::ranges::any_of(tree.node(node.parent).children, [&](int sibling) {
          return tree.node(sibling).response == node.slip->response;
        }));
        EXPECT_EQ(family.IsRefusal("", "", node.observation), kind == SlipKind::kRefused);
      }
    }
    EXPECT_GT(slipped, nodes / 8);
    EXPECT_LT(slipped, nodes / 2);
  }
}

TEST(BabyAiSearchTest, TheTestIdsAreThoseOfTheTestLevel) {
  MctsCollectOptions options;
  options.environment.task = "babyai";
  options.min = 9998;
  options.max = 10002;
  options.split = SplitPart::kTrain;
  EXPECT_EQ(TaskIds(options, 0), (std::vector{9998, 9999}));
  options.split = SplitPart::kTest;
  EXPECT_EQ(TaskIds(options, 0), (std::vector{10000, 10001}));
}

}  // namespace
}  // namespace agentr
