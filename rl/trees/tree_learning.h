// The options of the algorithms of agent_rl that learn from the trees of mcts_collect without
// playing: dpo, awr, tree_grpo and grpo (tree_objective.h). Their iteration makes --updates
// optimiser steps of --batch items.
#pragma once

#include <string>
#include <string_view>

#include "rl/trees/tree_data.h"
#include "rl/trees/tree_objective.h"

namespace agentr {

class Algorithm;
class OptionSet;
class RlContext;

struct TreeLearningOptions {
  TreeDataOptions data;
  TreeObjectiveOptions objective;
  std::string chat_template = "auto";
};

// Declares the group "Learning from search trees" and the options of the objectives.
void Declare(OptionSet& set, TreeLearningOptions& options);

struct AgentRlOptions;

// How the data is read and what is minimised, with what follows from options of the run.
TreeDataOptions TreeDataOptionsOf(const AgentRlOptions& options);
TreeObjectiveOptions TreeObjectiveOptionsOf(const AgentRlOptions& options);

// What is said of GRPO where `program` (with a blank behind it; "" is this one) sampled at another
// temperature than 1.
void WarnOfTemperature(double temperature, std::string_view program);

}  // namespace agentr
