#include "common/interrupt.h"

#include <pthread.h>
#include <unistd.h>

namespace agentr {
namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // safe in a signal handler

void OnSignal(int signal) {
  constexpr char kText[] =
      "\ninterrupted: waiting for the calls in progress; interrupt again to end at once, which "
      "loses only those calls\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  stop = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& Interrupted() { return stop; }

std::atomic<bool>& StopOnSignal() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  return stop;
}

void IgnoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

SignalWait::SignalWait() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

int SignalWait::Wait() {
  int signal = 0;
  sigwait(&signals_, &signal);
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  return signal;
}

}  // namespace agentr
