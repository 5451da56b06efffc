#pragma once

#include <atomic>
#include <csignal>

namespace agentr {

// True once StopOnSignal's flag is set.
const std::atomic<bool>& Interrupted();

// A flag that SIGINT and SIGTERM set, so that a run can end in good order. Each call installs the
// handlers. The first signal prints a line on stderr; the second ends the process at once.
std::atomic<bool>& StopOnSignal();

// Makes a write to a connection that the other side has closed return an error; by default it ends
// the process with SIGPIPE. To be called before using a library that leaves this to the program
// (OpenSSL, Gloo, LibTorch's TCPStore).
void IgnoreBrokenPipes();

// For a server, whose main thread only waits for SIGINT or SIGTERM. Construct it before starting
// any thread, because threads inherit the signal mask and must not receive these signals.
class SignalWait {
 public:
  SignalWait();

  // Waits for a signal and returns it. After that the next signal ends the process at once.
  int Wait();

 private:
  sigset_t signals_;
};

}  // namespace agentr
