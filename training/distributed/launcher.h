// Starts and watches a job of many processes on one machine.
#pragma once

#include "common/error.h"

namespace agentr {

// Starts `count` copies of the present command, each with torchrun's variables for its rank, and
// waits for them. If one fails, the others are killed, the message names the failed one and its
// end, and its exit code is returned (kIncomplete if a signal ended it). SIGINT and SIGTERM are
// forwarded, and the copies always end together with this process. Must be called at the start of a
// program, while there is only one thread. Throws FatalError(kUnavailable) if a copy cannot be
// started.
ExitCode RunProcesses(int count);

}  // namespace agentr
