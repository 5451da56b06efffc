// Leaves steps out of paths that brought nothing: what changed nothing, and detours that come back
// to where they began. What is proposed here from the tree alone is proven by replaying the
// shortened path (repair.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mcts/tree.h"
#include "revision/splice.h"
#include "revision/states.h"
#include "tasks/task_family.h"

namespace agentr {

enum class Prune { kOff, kEffect, kFull };

// "off" | "effect" | "full"; throws FatalError(kUsage) for others.
Prune ParsePrune(std::string_view name);

// Of one tree; all references outlive it. Not thread-safe: it remembers state keys.
class Pruner {
 public:
  Pruner(const Tree& tree, const StateMap& states, const TaskFamily& family)
      : tree_(tree), states_(states), family_(family) {}

  // The plan with a shorter prefix and good suffix. kEffect leaves out the steps that changed
  // nothing and told nothing new; kFull also the loops between two nodes with one state key
  // (TaskFamily::StateKey). The prefix keeps the last `slips` refused steps, so that what the model
  // sees before its mistake stays lifelike. Bad steps all stay.
  SplicePlan Shorten(const SplicePlan& plan, Prune mode, int slips);

 private:
  std::vector<int> WithoutIdle(const std::vector<int>& nodes) const;
  std::vector<int> WithoutLoops(int start, const std::vector<int>& nodes);
  std::vector<int> WithSlips(const std::vector<int>& all, const std::vector<int>& kept,
                             int slips) const;
  const std::string& Key(int node);

  const Tree& tree_;
  const StateMap& states_;
  const TaskFamily& family_;
  std::map<int, std::string> keys_;  // by state
};

}  // namespace agentr
