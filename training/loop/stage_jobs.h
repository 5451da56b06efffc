// Does the job of a stage in this process.
#pragma once

#include "common/error.h"
#include "training/loop/loop_plan.h"
#include "training/loop/loop_workbench.h"

namespace agentr {

// Reads the arguments of the stage as its program would, and does the program's job. After a
// training the workbench has the new weights. Throws FatalError as the job, and kUsage for
// arguments that the program does not take.
ExitCode RunStage(const LoopStage& stage, LoopWorkbench& workbench);

// Throws what RunStage would throw for the arguments alone.
void CheckArguments(const LoopStage& stage);

}  // namespace agentr
