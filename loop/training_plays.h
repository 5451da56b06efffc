// agent_train with --play_every: during the training the model plays tasks, like agent_eval, with
// its present weights. A decreasing loss does not show whether an agent improves; this does.
//
//   OUTPUT_DIR/NAME/plays/step_…/   the episodes and their summary
//                   metrics.jsonl   success, reward and refused steps, as "play" of the step
#pragma once

#include <vector>

#include "common/error.h"
#include "common/secret.h"
#include "rollout/workbench.h"
#include "training/agent_train.h"

namespace agentr {

struct TrainingPlayOptions {
  int every = 0;             // steps; 0: never
  std::vector<Secret> play;  // additional arguments of agent_eval
};

void Declare(OptionSet& set, TrainingPlayOptions& options);

// Runs AgentTrain and plays. Throws FatalError.
ExitCode AgentTrainWithPlays(const AgentTrainOptions& options, const TrainingPlayOptions& plays,
                             const OptionSet& resolved, Workbench& workbench);

}  // namespace agentr
