// Removes useless steps from paths: steps that changed nothing, and detours that return to their
// beginning. The proposals use only the tree; replaying the shortened path proves them (repair.h).
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "common/named_values.h"
#include "mcts/tree.h"
#include "revision/find/states.h"
#include "revision/make/splice.h"
#include "tasks/task_family.h"

namespace agentr {

enum class Prune { kOff, kEffect, kFull };

inline constexpr std::array<NamedValue<Prune>, 3> kPrunes = {
    {{"effect", Prune::kEffect}, {"full", Prune::kFull}, {"off", Prune::kOff}}};

// For one tree; all references outlive it. Not thread-safe, because it caches state keys.
class Pruner {
 public:
  Pruner(const Tree& tree, const StateMap& states, const TaskFamily& family)
      : tree_(tree), states_(states), family_(family) {}

  // The plan with a shorter prefix and good suffix. kEffect removes steps that changed nothing and
  // gave no new information; kFull also removes loops between two nodes with the same state key
  // (RevisionHints::StateKey). The prefix keeps the last `slips` refused steps, so that the history
  // before the mistake stays realistic, and the good suffix the last `good_slips`. All bad steps
  // stay.
  SplicePlan Shorten(const SplicePlan& plan, Prune mode, int slips, int good_slips = 0);

 private:
  std::vector<int> WithoutIdle(const std::vector<int>& nodes) const;
  std::vector<int> WithoutLoops(int start, const std::vector<int>& nodes);
  // `stands`: the state in which the steps begin.
  std::vector<int> WithSlips(int stands, const std::vector<int>& all, const std::vector<int>& kept,
                             int slips) const;
  const std::string& Key(int node);

  const Tree& tree_;
  const StateMap& states_;
  const TaskFamily& family_;
  std::map<int, std::string> keys_;  // by state
};

}  // namespace agentr
