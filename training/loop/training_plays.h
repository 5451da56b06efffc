// agent_train with --play_every: while a model is trained it plays tasks, as agent_eval does, with
// the weights of the moment. A falling loss does not say whether an agent gets better; this does.
//
//   OUTPUT_DIR/NAME/plays/step_…/   the episodes and their summary
//                   metrics.jsonl   success, reward and refused steps, as "play" of the step
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "rollout/workbench.h"
#include "training/agent_train.h"

namespace agentr {

struct TrainingPlayOptions {
  int every = 0;                  // steps; 0: never
  std::vector<std::string> play;  // further arguments of agent_eval
};

void Declare(OptionSet& set, TrainingPlayOptions& options);

// AgentTrain, and plays. Throws FatalError.
ExitCode AgentTrainWithPlays(const AgentTrainOptions& options, const TrainingPlayOptions& plays,
                             const OptionSet& resolved, Workbench& workbench);

}  // namespace agentr
