#include "rl/trees/step_advantages.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "revision/find/paths.h"
#include "revision/find/states.h"
#include "rl/losses/group_relative.h"
#include "tasks/revision_hints.h"

namespace agentr {
namespace {

struct Step {
  size_t tree = 0, node = 0;
};

// The steps of a state and their returns.
struct StateGroup {
  std::vector<Step> steps;
  std::vector<double> returns;
};

// The actions that led to each state of the map, with lengths, so that they cannot run together.
std::vector<std::string> KeysOfStates(const Tree& tree, const StateMap& states) {
  std::vector<std::string> keys(static_cast<size_t>(states.size()));
  for (int node = 1; node < tree.size(); ++node) {
    if (!states.Changed(node)) continue;
    const std::string& before = keys[static_cast<size_t>(states.Of(tree.node(node).parent))];
    const std::string& action = tree.node(node).action;
    keys[static_cast<size_t>(states.Of(node))] =
        fmt::format("{}{} {}\n", before, action.size(), action);
  }
  return keys;
}

}  // namespace

std::vector<std::vector<std::string>> StateKeys(const std::vector<const Tree*>& trees,
                                                const TaskFamily& family) {
  std::vector<std::vector<std::string>> all;
  for (const Tree* tree : trees) {
    const StateMap states(*tree, family);
    const std::vector<std::string> by_state = KeysOfStates(*tree, states);
    std::vector<std::string>& keys = all.emplace_back(static_cast<size_t>(tree->size()));
    for (int node = 0; node < tree->size(); ++node) {
      if (tree->node(node).children.empty()) continue;  // no step follows
      const std::vector<Message> told = tree->Conversation(node);
      const std::string known =
          family.hints().StateKey(std::span(told).subspan(tree->instruction().size()));
      keys[static_cast<size_t>(node)] =
          known.empty() ? "actions " + by_state[static_cast<size_t>(states.Of(node))]
                        : "state " + known;
    }
  }
  return all;
}

std::vector<std::vector<double>> TreeStepAdvantages(
    const std::vector<const Tree*>& trees, const std::vector<std::vector<std::string>>& keys,
    double gamma, bool divide_by_std) {
  std::map<std::string, StateGroup> groups;
  std::vector<std::vector<double>> sums, counts;
  for (size_t t = 0; t < trees.size(); ++t) {
    const Tree& tree = *trees[t];
    sums.emplace_back(static_cast<size_t>(tree.size()));
    counts.emplace_back(static_cast<size_t>(tree.size()));
    for (const LeafPath& leaf : LeafPaths(tree)) {
      const std::vector<int> path = tree.Path(leaf.leaf);
      for (size_t i = 1; i < path.size(); ++i) {
        StateGroup& group = groups[keys[t][static_cast<size_t>(path[i - 1])]];
        group.steps.push_back({t, static_cast<size_t>(path[i])});
        group.returns.push_back(std::pow(gamma, static_cast<double>(path.size() - 1 - i)) *
                                leaf.value);
      }
    }
  }
  for (const auto& [key, group] : groups) {
    const std::vector<double> advantages = GroupAdvantages(group.returns, divide_by_std);
    for (size_t i = 0; i < advantages.size(); ++i) {
      const Step& step = group.steps[i];
      sums[step.tree][step.node] += advantages[i];
      counts[step.tree][step.node] += 1;
    }
  }
  for (size_t t = 0; t < sums.size(); ++t) {
    for (size_t i = 0; i < sums[t].size(); ++i) {
      if (counts[t][i] > 0) sums[t][i] /= counts[t][i];
    }
  }
  return sums;
}

}  // namespace agentr
