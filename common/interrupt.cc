#include "common/interrupt.h"

#include <pthread.h>

namespace agentr {
namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // safe in a signal handler

void OnSignal(int signal) {
  stop = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

std::atomic<bool>& StopOnSignal() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  return stop;
}

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
