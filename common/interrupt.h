#pragma once

#include <atomic>
#include <csignal>

namespace agentr {

// True once StopOnSignal's flag is set.
const std::atomic<bool>& Interrupted();

// A flag that SIGINT and SIGTERM set, for a run to end in good order; the handlers are installed by
// the first call. A line on stderr says so; a second signal ends the process at once.
std::atomic<bool>& StopOnSignal();

// For a server, whose main thread only waits for SIGINT or SIGTERM. Made before any other thread,
// so that no other takes them.
class SignalWait {
 public:
  SignalWait();

  // The signal that came. From then on a second one ends the process at once.
  int Wait();

 private:
  sigset_t signals_;
};

}  // namespace agentr
