#include "clients/retry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace agentr {

Sleeper SleepUnless(std::stop_token stop) {
  return [stop = std::move(stop)](double seconds) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
    return !stop.stop_requested();
  };
}

double BackoffSeconds(const RetryPolicy& policy, int failures, double retry_after_s,
                      RandomStream& stream) {
  if (retry_after_s > 0) return retry_after_s;
  const double bound = policy.base_s * std::pow(policy.factor, failures - 1);
  return stream.Uniform() * std::min(policy.cap_s, bound);
}

}  // namespace agentr
