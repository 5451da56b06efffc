// The job of self_train: search, revise, train, evaluate, and repeat. Every stage is the job of its
// program (mcts_collect, path_collect, agent_train, agent_eval), called in this process with the
// arguments of the plan, so that each stage can be repeated and examined separately.
#pragma once

#include "common/error.h"
#include "loop/loop_plan.h"
#include "rollout/workbench.h"

namespace agentr {

// Runs the unfinished stages, prints the table after each iteration, and writes
// OUTPUT_DIR/NAME/loop.json, table.txt and resolved.toml. After a kill the same command continues
// within the interrupted stage. A stage with failed tasks is accepted with a warning. Throws
// FatalError.
ExitCode SelfTrain(const SelfTrainOptions& options, const OptionSet& resolved,
                   Workbench& workbench);

}  // namespace agentr
