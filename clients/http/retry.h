// Retries with exponential backoff and full jitter, so that callers that failed at the same time do
// not all retry at the same time.
#pragma once

#include <atomic>
#include <functional>

#include "clients/call_stats.h"
#include "common/error.h"
#include "common/interrupt.h"
#include "common/random.h"

namespace agentr {

// Waits this many seconds; returns false if the wait was cut short because the run is being
// stopped.
using Sleeper = std::function<bool(double seconds)>;

// Sleeps the whole time unless `stop` is set, which it checks twenty times a second. `stop`
// outlives it.
Sleeper SleepUnless(const std::atomic<bool>& stop);

struct RetryPolicy {
  int attempts = 8;      // in all, including the first one; at least 1
  double base_s = 0.1;   // bound of the first wait
  double factor = 2;     // by which the bound grows from one wait to the next
  double cap_s = 10;     // the largest bound; a wait that the server asks for may be longer
  double total_s = 120;  // bound of all the waits of one call
  Sleeper sleep = SleepUnless(Interrupted());
};

// The wait after `failures` failures (>= 1): uniform in [0, min(cap, base * factor^(failures -
// 1))), or `retry_after_s` where the server asked for it (> 0).
double BackoffSeconds(const RetryPolicy& policy, int failures, double retry_after_s,
                      RandomStream& stream);

// Calls fn() until it succeeds, until `again(error)` is false, or until the attempts or waits are
// used up; returns the last result. fn returns an expected whose error is an Error. When the
// sleeper is stopped, the error is kCancelled with the message of the last failure. Each repetition
// is counted in `stats`.
template <typename Fn, typename Again>
auto Retry(const RetryPolicy& policy, RandomStream stream, CallStats& stats, Fn&& fn, Again&& again)
    -> decltype(fn()) {
  double waited_s = 0;
  for (int failures = 1;; ++failures) {
    auto result = fn();
    if (result || failures >= policy.attempts || !again(result.error())) return result;
    const double wait_s = BackoffSeconds(policy, failures, result.error().retry_after_s, stream);
    waited_s += wait_s;
    if (waited_s > policy.total_s) return result;
    if (!policy.sleep(wait_s)) {
      result.error().kind = ErrorKind::kCancelled;
      return result;
    }
    stats.AddRetry();
  }
}

// The same for every transient error.
template <typename Fn>
auto Retry(const RetryPolicy& policy, RandomStream stream, CallStats& stats, Fn&& fn)
    -> decltype(fn()) {
  return Retry(policy, stream, stats, fn, [](const Error& e) { return IsTransient(e.kind); });
}

}  // namespace agentr
