// Training as one process, or as one of many: what options and environment say.
#pragma once

#include <functional>

#include "common/error.h"
#include "training/distributed/distributed_options.h"
#include "training/distributed/process_group.h"

namespace agentr {

// Runs `body` with the group of the job's processes; null: there is this one alone. With
// --processes the calling process starts the others and only watches them. `threads`: on the CPU; 0:
// this process's share of the cores. What `body` throws ends the other processes too, and names
// this one.
ExitCode RunInJob(const DistributedOptions& options, int threads,
                  const std::function<ExitCode(ProcessGroup*)>& body);

}  // namespace agentr
