// The process group of a job whose processes meet at a port of rank 0's machine.
#pragma once

#include <memory>
#include <string>

#include "training/distributed/process_group.h"
#include "training/distributed/rendezvous.h"

namespace agentr {

struct JobGroupOptions {
  std::string transport = "auto";  // gloo | tcp; auto: gloo where the build has it
  int meet_s = 300;                // for all ranks to arrive
  int timeout_s = 600;             // for a collective
};

// Waits for all ranks of the job, and then watches them (liveness.h). Throws FatalError:
// kUnavailable naming the ranks that did not arrive, or the fault of the meeting place; kUsage if
// Gloo is requested but not built in.
std::unique_ptr<ProcessGroup> JoinJobGroup(const Place& place, const JobGroupOptions& options);

}  // namespace agentr
