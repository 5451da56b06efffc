#include "common/interrupt.h"

#include <semaphore.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "common/clock.h"

namespace agentr {
namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // safe in a signal handler

// Posted by the signal handler, which may use few other things to wake a thread.
sem_t signalled;

void Say(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void OnSignal(int /*signal*/) {
  const int error = errno;  // of the call that the signal interrupts
  Say("\ninterrupted: waiting for the calls in progress; interrupt again to end at once, which "
      "loses only those calls\n");
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  stop = true;
  ::sem_post(&signalled);
  errno = error;
}

}  // namespace

const std::atomic<bool>& Interrupted() { return stop; }

std::atomic<bool>& StopOnSignal() {
  // Only once: a job that begins after the first signal must not take the second one.
  static const bool installed = [] {
    ::sem_init(&signalled, 0, 0);
    std::signal(SIGINT, OnSignal);
    std::signal(SIGTERM, OnSignal);
    return true;
  }();
  (void)installed;
  return stop;
}

void WaitForSignal() {
  const std::atomic<bool>& stopped = StopOnSignal();
  while (!stopped) ::sem_wait(&signalled);
}

void EndAtLatestIn(std::chrono::milliseconds time, ExitCode code) {
  std::thread([time, code] {
    std::this_thread::sleep_for(time);
    Say("some calls did not end in time; they are cut off\n");
    std::_Exit(static_cast<int>(code));
  }).detach();
}

bool StopTime::Passed() {
  if (!stop_) return false;
  const std::lock_guard lock(mutex_);
  if (!noticed_) noticed_ = std::chrono::steady_clock::now();
  return SecondsSince(*noticed_) >= grace_s_;
}

void IgnoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace agentr
