// The job of self_train: search, revise, train, evaluate, and again. Every stage is the job of its
// program (mcts_collect, path_collect, agent_train, agent_eval), called in this process with the
// arguments that the plan names, so that each can be repeated and looked at by itself.
#pragma once

#include "common/error.h"
#include "rollout/workbench.h"
#include "training/loop/loop_plan.h"

namespace agentr {

// Does what is not finished yet, prints the table after each iteration, and writes
// OUTPUT_DIR/NAME/loop.json, table.txt and resolved.toml. After a kill the same command goes on
// within the stage that was under way. A stage that ends with tasks that failed is taken as it is,
// with a warning. Throws FatalError.
ExitCode SelfTrain(const SelfTrainOptions& options, const OptionSet& resolved,
                   Workbench& workbench);

}  // namespace agentr
