// The options of the algorithms of agent_rl that learn from the trees of mcts_collect without
// playing: dpo, awr, tree_grpo and value (tree_objective.h). Their iteration makes --updates optimiser
// steps of --batch items.
#pragma once

#include <string>

#include "training/rl/tree_data.h"
#include "training/rl/tree_objective.h"

namespace agentr {

class OptionSet;

struct TreeLearningOptions {
  TreeDataOptions data;
  TreeObjectiveOptions objective;
  std::string chat_template = "auto";
};

// Declares --trees, --trees_model, --min_task, --max_task, --max_pairs_per_task, --max_length,
// --batch_tokens, --chat_template and the options of the three objectives.
void Declare(OptionSet& set, TreeLearningOptions& options);

struct AgentRlOptions;

// The options with which a value model is trained: --model_dir becomes the untrained value model
// made of it, in the run's folder. Others are returned unchanged.
AgentRlOptions WithValueModel(const AgentRlOptions& options);

}  // namespace agentr
