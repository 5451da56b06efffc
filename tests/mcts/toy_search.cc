#include "tests/mcts/toy_search.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <stdexcept>
#include <utility>

#include "common/random.h"

namespace agentr {
namespace {

// Faults and mismatches are made on purpose here.
const bool kQuiet = [] {
  spdlog::set_level(spdlog::level::off);
  return true;
}();

struct Counters {
  int visits = 0;
  double value = 0;
  bool terminal = false;
};

Counters CountersFromLeaves(const Tree& tree, int index) {
  const Node& node = tree.node(index);
  if (node.end != End::kNone) return {1, node.reward, true};
  Counters sum{0, 0, !node.children.empty()};
  for (const int child : node.children) {
    const Counters below = CountersFromLeaves(tree, child);
    sum.visits += below.visits;
    sum.value += below.value;
    sum.terminal = sum.terminal && below.terminal;
  }
  return sum;
}

void DescribeBelow(const StateTree& states, int state, const std::string& way,
                   const std::vector<std::string>& actions, std::string& text) {
  for (const std::string& action : actions) {
    const StateTree::Transition* found = states.Find(state, action);
    if (found == nullptr) continue;
    const auto& [observation, reward, done] = found->result;
    const bool stays = found->state == state;
    text += fmt::format("{} > {}: {} {} {} {}\n", way, action, observation, reward, done, stays);
    if (!stays) DescribeBelow(states, found->state, way + " > " + action, actions, text);
  }
}

}  // namespace

std::vector<std::string> ToyActions() {
  return {"go a",     "go b",      "look",  "look up", "stuck",
          "gain 0.5", "gain -0.5", "end 1", "end 0",   "end 0.25"};
}

Result<Tree> ToySearch::Run(int task_id) {
  const std::unique_ptr<Executor> executor = MakeExecutor(task_id, world, pool, family, stop);
  TreeOrigin origin{"toy", task_id, model.name(), "hash", ToJson(options)};
  nodes_told = 0;
  Search search(options, std::move(origin),
                {family, model, *executor, stop, [this](int nodes) { nodes_told += nodes; },
                 /*first_responses=*/nullptr, &cut_turns});
  Result<Tree> tree = search.Run();
  usage = search.usage();
  stats = executor->stats();
  nodes_to_success = search.nodes_to_success();
  return tree;
}

Tree ToySearch::MustRun(int task_id) {
  Result<Tree> tree = Run(task_id);
  if (!tree) throw std::runtime_error(tree.error().message);
  return std::move(*tree);
}

void AlwaysReply(ToySearch& search, const std::vector<std::string>& actions) {
  std::vector<std::string> texts;
  for (const std::string& action : actions) texts.push_back(ToyModel::Response(action));
  search.model.reply = [texts](std::span<const Message>, int) -> Result<std::vector<std::string>> {
    return texts;
  };
}

Node Turn(const std::string& action, const std::string& observation, double reward, End end) {
  Node node;
  node.response = ToyModel::Response(action);
  node.action = action;
  node.observation = observation;
  node.reward = reward;
  node.end = end;
  return node;
}

void ExpectCountersFollowFromLeaves(const Tree& tree) {
  for (int i = 0; i < tree.size(); ++i) {
    const Counters expected = CountersFromLeaves(tree, i);
    EXPECT_EQ(tree.node(i).visits, expected.visits) << "node " << i;
    EXPECT_DOUBLE_EQ(tree.node(i).value, expected.value) << "node " << i;
    EXPECT_EQ(tree.node(i).terminal, expected.terminal) << "node " << i;
  }
}

std::string Describe(const StateTree& states, const std::vector<std::string>& actions) {
  std::string text;
  DescribeBelow(states, StateTree::kRoot, "", actions, text);
  return text;
}

Result<void> RandomExecution(Executor& executor, const std::vector<std::string>& actions,
                             uint64_t seed, int expansions) {
  if (auto started = executor.Start(); !started) return tl::make_unexpected(started.error());
  RandomStream random(seed);
  std::vector<int> open = {StateTree::kRoot};
  for (int i = 0; i < expansions && !open.empty(); ++i) {
    const size_t at = random.Below(open.size());
    const int state = open[at];
    open.erase(open.begin() + static_cast<long>(at));
    const auto chosen = random.Sample(actions, 1 + random.Below(4));
    if (auto executed = executor.Execute(state, chosen, false); !executed) return executed;
    for (const std::string& action : chosen) {
      const StateTree::Transition& outcome = *executor.states().Find(state, action);
      if (outcome.state != state && !outcome.result.done) open.push_back(outcome.state);
    }
  }
  return {};
}

}  // namespace agentr
