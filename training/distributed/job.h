// Runs training as one process or as one of many, according to options and environment.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "common/error.h"
#include "training/distributed/distributed_options.h"
#include "training/distributed/process_group.h"

namespace agentr {

// Runs `body` with the group of the job's processes, or null if this is the only one. With
// --processes the calling process starts the others and only watches them. `threads`: CPU threads;
// 0: this process's share of the cores. `resolved`: all options (OptionSet::ResolvedJson), which
// must be the same in all processes (job_fingerprint.h). An exception of `body` also ends the other
// processes, with a message that names this one.
ExitCode RunInJob(const DistributedOptions& options, int threads,
                  const nlohmann::ordered_json& resolved,
                  const std::function<ExitCode(ProcessGroup*)>& body);

}  // namespace agentr
