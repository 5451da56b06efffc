#include "clients/http/retry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace agentr {

Sleeper SleepUnless(const std::atomic<bool>& stop) {
  return [&stop](double seconds) {
    using Seconds = std::chrono::duration<double>;
    constexpr Seconds kLook(0.05);
    for (Seconds left(seconds); left > Seconds(0) && !stop; left -= kLook) {
      std::this_thread::sleep_for(std::min(left, kLook));
    }
    return !stop;
  };
}

double BackoffSeconds(const RetryPolicy& policy, int failures, double retry_after_s,
                      RandomStream& stream) {
  if (retry_after_s > 0) return retry_after_s;
  const double bound = policy.base_s * std::pow(policy.factor, failures - 1);
  return stream.Uniform() * std::min(policy.cap_s, bound);
}

}  // namespace agentr
