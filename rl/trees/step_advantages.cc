#include "rl/trees/step_advantages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "revision/find/paths.h"
#include "revision/find/states.h"
#include "rl/losses/group_relative.h"
#include "tasks/revision_hints.h"

namespace agentr {
namespace {

// One step of one episode.
struct Step {
  size_t tree = 0, node = 0;
  std::string from, to;  // states; `to` is empty where the task has ended
  double end = 0;        // reward of an episode whose last step this is
  double back = 0;       // discounted reward of its episode
};

// The steps of a state and their returns.
struct StateGroup {
  std::vector<const Step*> steps;
  std::vector<double> returns;
};

std::vector<Step> StepsOf(const std::vector<const Tree*>& trees,
                          const std::vector<std::vector<std::string>>& keys, double gamma) {
  std::vector<Step> steps;
  for (size_t t = 0; t < trees.size(); ++t) {
    for (const LeafPath& leaf : LeafPaths(*trees[t])) {
      const std::vector<int> path = trees[t]->Path(leaf.leaf);
      for (size_t i = 1; i < path.size(); ++i) {
        const size_t turns_left = path.size() - 1 - i;
        const auto from = static_cast<size_t>(path[i - 1]), to = static_cast<size_t>(path[i]);
        steps.push_back({t, to, keys[t][from], keys[t][to], turns_left == 0 ? leaf.value : 0,
                         std::pow(gamma, static_cast<double>(turns_left)) * leaf.value});
      }
    }
  }
  return steps;
}

// GraphGPO's return of each step. The value of a state is gamma times the best return of its steps,
// so that values come from the ends backwards, one step in each round.
std::vector<double> GraphReturns(const std::vector<Step>& steps, double gamma) {
  std::map<std::string, double> values;
  const auto return_of = [&](const Step& step) {
    const auto behind = values.find(step.to);
    return std::max(step.end, step.to.empty() || behind == values.end() ? 0 : behind->second);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Step& step : steps) {
      const double value = gamma * return_of(step);
      if (value <= values[step.from]) continue;
      values[step.from] = value;
      changed = true;
    }
  }
  double least = 0;
  for (const auto& [state, value] : values) {
    if (value > 0 && (least == 0 || value < least)) least = value;
  }
  std::vector<double> returns;
  for (const Step& step : steps) {
    const double found = return_of(step);
    returns.push_back(found > 0 ? found : gamma * least);
  }
  return returns;
}

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
      const Node& at = tree->node(node);
      if (at.children.empty() && at.end != End::kDepth) continue;  // no step follows
      const std::string known = family.hints().StateKey(HistoryOf(*tree, family, node));
      keys[static_cast<size_t>(node)] =
          known.empty() ? "actions " + by_state[static_cast<size_t>(states.Of(node))]
                        : "state " + known;
    }
  }
  return all;
}

std::vector<std::vector<double>> TreeStepAdvantages(
    const std::vector<const Tree*>& trees, const std::vector<std::vector<std::string>>& keys,
    double gamma, bool divide_by_std, StepReturn step_return) {
  const std::vector<Step> steps = StepsOf(trees, keys, gamma);
  std::vector<double> returns;
  if (step_return == StepReturn::kGraph) {
    returns = GraphReturns(steps, gamma);
  } else {
    for (const Step& step : steps) returns.push_back(step.back);
  }
  std::map<std::string, StateGroup> groups;
  for (size_t i = 0; i < steps.size(); ++i) {
    StateGroup& group = groups[steps[i].from];
    group.steps.push_back(&steps[i]);
    group.returns.push_back(returns[i]);
  }
  std::vector<std::vector<double>> sums, counts;
  for (const Tree* tree : trees) {
    sums.emplace_back(static_cast<size_t>(tree->size()));
    counts.emplace_back(static_cast<size_t>(tree->size()));
  }
  for (const auto& [key, group] : groups) {
    const std::vector<double> advantages = GroupAdvantages(group.returns, divide_by_std);
    for (size_t i = 0; i < advantages.size(); ++i) {
      const Step& step = *group.steps[i];
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
