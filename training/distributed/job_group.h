// The process group of a job whose processes meet at a port of rank 0's machine.
#pragma once

#include <memory>

#include "training/distributed/distributed_options.h"
#include "training/distributed/job_fingerprint.h"
#include "training/distributed/process_group.h"
#include "training/distributed/rendezvous.h"

namespace agentr {

// Waits for all ranks of the job (meeting.h), whose `fingerprint` must be the same, and then
// watches them (liveness.h). Throws FatalError: what Meet throws; kUnavailable with the fault of
// the meeting place.
std::unique_ptr<ProcessGroup> JoinJobGroup(const Place& place, const JobFingerprint& fingerprint,
                                           const DistributedOptions& options);

}  // namespace agentr
