// The process group of a job whose processes meet at a port of rank 0's machine.
#pragma once

#include <memory>
#include <string>

#include "training/distributed/process_group.h"
#include "training/distributed/rendezvous.h"

namespace agentr {

struct JobGroupOptions {
  std::string transport = "auto";  // gloo | tcp; auto: gloo where the build has it
  int meet_s = 300;                // for all ranks to come
  int timeout_s = 600;             // of a collective
};

// Waits for all ranks of the job, and from then on watches them (liveness.h). Throws FatalError:
// kUnavailable naming the ranks that did not come, or what is wrong with the place; kUsage where
// the build is without Gloo and it is asked for.
std::unique_ptr<ProcessGroup> JoinJobGroup(const Place& place, const JobGroupOptions& options);

}  // namespace agentr
