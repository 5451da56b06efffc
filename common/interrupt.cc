#include "common/interrupt.h"

#include <csignal>

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

}  // namespace agentr
