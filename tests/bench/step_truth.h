// Decides whether the steps of a search tree really were mistakes; verifiers are measured against
// it.
//
// For each state the referee knows the best reward that can still be reached from there, and in how
// many steps. A step is wrong if it costs reward or does not bring the end nearer; it is harmful if
// it costs reward or leads away from the end. The referees:
//   textcraft       the plan from what is held to the goal (tasks/textcraft/textcraft_planner.h)
//   webshop         the shop's own knowledge: the clicks to buying a product that is worth the full
//                   reward, where a search for its title counts as finding it
//   sciworld        the steps of the simulator's own solution that are left
//   player          for all kinds of tasks: the scripted policy plays on from the state, in the
//                   environment and without a mistake. In WebShop it knows only what the
//                   instruction tells, so it does not always find the best product.
#pragma once

#include <memory>

#include "clients/env/gold_source.h"
#include "clients/environment.h"
#include "mcts/tree.h"
#include "tasks/scripted_policy.h"

namespace agentr {

struct Outlook {
  double reward = 0;
  int steps = 0;
};

class StepTruth {
 public:
  virtual ~StepTruth() = default;

  // From the state after `node`; no reward if success is out of reach.
  virtual Outlook From(const Tree& tree, int node) = 0;

  bool IsWrong(const Tree& tree, int node);
  bool IsHarmful(const Tree& tree, int node);

 private:
  // True if a step that raises the reward is right whatever the outlook says.
  virtual bool TrustsRewards() const { return false; }
};

// What the referees may use; it outlives them.
struct TruthSources {
  GoldSource* gold = nullptr;  // for sciworld
  Environment& environment;    // for player
  const ScriptedPolicy* policy = nullptr;
};

// By name, for the built-in shop and recipes.
std::unique_ptr<StepTruth> MakeStepTruth(std::string_view name, const TruthSources& sources);

}  // namespace agentr
