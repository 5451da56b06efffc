#pragma once

#include <atomic>

namespace agentr {

// A flag that SIGINT and SIGTERM set, for a run to end in good order; the handlers are installed by
// the first call. A second signal ends the process at once.
std::atomic<bool>& StopOnSignal();

}  // namespace agentr
