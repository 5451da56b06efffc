// Runs the job of a stage in this process.
#pragma once

#include "common/error.h"
#include "loop/loop_plan.h"
#include "loop/loop_workbench.h"

namespace agentr {

// Reads the arguments of the stage like its program, and does the program's job. After a training
// the workbench has the new weights. Throws the job's FatalError, and kUsage for arguments that the
// program does not accept.
ExitCode RunStage(const LoopStage& stage, LoopWorkbench& workbench);

// Throws what RunStage would throw for its arguments.
void CheckArguments(const LoopStage& stage);

}  // namespace agentr
