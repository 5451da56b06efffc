// A job of many processes on one machine, started and watched by a process of its own.
#pragma once

#include "common/error.h"

namespace agentr {

// Starts `count` copies of this very command, each with torchrun's variables of its rank, and waits
// for them. When one fails, the others are killed, and the message says which one it was and how it
// ended; its exit code is returned (kIncomplete where a signal ended it). SIGINT and SIGTERM are
// handed on, and the copies end with their starter, whatever ends it. For the start of a program,
// while there is one thread. Throws FatalError(kUnavailable) where a copy cannot be started.
ExitCode RunProcesses(int count);

}  // namespace agentr
