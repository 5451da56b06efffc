// A process group over c10d's Gloo: TCP connections between the memories of CPUs.
#pragma once

#include <memory>

#include "training/distributed/process_group.h"
#include "training/distributed/rendezvous.h"

namespace agentr {

struct GlooOptions {
  int meet_s = 300;     // for all ranks to come
  int timeout_s = 600;  // of a collective
};

// Waits for all ranks of the job. Throws FatalError(kUnavailable) naming those that did not come, or
// what is wrong with the place; and, in a build without Gloo's headers, saying which package lacks.
// GLOO_SOCKET_IFNAME names the network interface to use; else it is that of the host's name.
std::unique_ptr<ProcessGroup> JoinGlooGroup(const Place& place, const GlooOptions& options);

}  // namespace agentr
