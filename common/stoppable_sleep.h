// A pause that ends at once when its thread is asked to stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace agentr {

// Waits for `time`, or until a stop is requested, as the destructor of a std::jthread does. Returns
// false if one is requested.
template <typename Rep, typename Period>
bool SleepUnlessStopped(const std::stop_token& stop, std::chrono::duration<Rep, Period> time) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace agentr
