// A pause of a thread that ends at once when the thread is asked to stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace agentr {

// Waits for `time`, or until `stop` is requested (the destructor of a std::jthread does so); false
// if it is.
template <typename Rep, typename Period>
bool SleepUnlessStopped(const std::stop_token& stop, std::chrono::duration<Rep, Period> time) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace agentr
