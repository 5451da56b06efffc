#include "clients/http/retry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace agentr {
namespace {

// A policy that notes its waits instead of waiting.
struct Noted {
  std::vector<double> waits;
  RetryPolicy policy;
  Noted() {
    policy.sleep = [this](double seconds) {
      waits.push_back(seconds);
      return true;
    };
  }
};

Result<int> Error429(double retry_after_s) {
  return tl::make_unexpected(Error{ErrorKind::kRateLimited, "slow down", retry_after_s});
}

TEST(Backoff, GrowsToTheCapWithFullJitter) {
  const RetryPolicy policy{
      .attempts = 9, .base_s = 1, .factor = 2, .cap_s = 5, .total_s = 60, .sleep = {}};
  RandomStream stream(1);
  const double bounds[] = {1, 2, 4, 5, 5};
  for (int failures = 1; failures <= 5; ++failures) {
    const double bound = bounds[failures - 1];
    double least = bound, most = 0;
    for (int i = 0; i < 1000; ++i) {
      const double wait = BackoffSeconds(policy, failures, 0, stream);
      least = std::min(least, wait);
      most = std::max(most, wait);
    }
    EXPECT_LT(least, 0.01 * bound) << failures;
    EXPECT_GT(most, 0.99 * bound) << failures;
    EXPECT_LT(most, bound) << failures;
  }
}

TEST(Backoff, TheServersWishWins) {
  RandomStream stream(1);
  EXPECT_EQ(BackoffSeconds(RetryPolicy{}, 1, 17, stream), 17);
}

TEST(Retry, StopsAtSuccess) {
  Noted noted;
  CallStats stats;
  int calls = 0;
  const auto result = Retry(noted.policy, RandomStream(1), stats, [&]() -> Result<int> {
    if (++calls < 3) return Fail(ErrorKind::kServer, "no");
    return 42;
  });
  EXPECT_EQ(result.value(), 42);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(noted.waits.size(), 2u);
  EXPECT_EQ(stats.retries(), 2);
}

TEST(Retry, GivesUpAfterItsAttempts) {
  Noted noted;
  noted.policy.attempts = 4;
  CallStats stats;
  int calls = 0;
  const auto result = Retry(noted.policy, RandomStream(1), stats, [&]() -> Result<int> {
    return Fail(ErrorKind::kTimeout, "failure " + std::to_string(++calls));
  });
  EXPECT_EQ(result.error().message, "failure 4");
  EXPECT_EQ(stats.retries(), 3);
}

TEST(Retry, DoesNotRepeatWhatCannotHelp) {
  for (const ErrorKind kind : {ErrorKind::kEnvironment, ErrorKind::kRejected,
                               ErrorKind::kContextLength, ErrorKind::kCancelled}) {
    Noted noted;
    CallStats stats;
    const auto result = Retry(noted.policy, RandomStream(1), stats,
                              [&]() -> Result<int> { return Fail(kind, "no"); });
    EXPECT_EQ(result.error().kind, kind);
    EXPECT_TRUE(noted.waits.empty()) << Name(kind);
  }
}

TEST(Retry, HonoursRetryAfterWithinTheTotal) {
  Noted noted;
  noted.policy.total_s = 50;
  CallStats stats;
  const auto result = Retry(noted.policy, RandomStream(1), stats, [&] { return Error429(20); });
  EXPECT_EQ(result.error().kind, ErrorKind::kRateLimited);
  EXPECT_EQ(noted.waits, (std::vector<double>{20, 20})) << "a third wait would pass 50 s";
}

TEST(Retry, AStoppedWaitIsCancelled) {
  std::atomic<bool> stop = true;
  RetryPolicy policy;
  policy.sleep = SleepUnless(stop);
  CallStats stats;
  const auto result = Retry(policy, RandomStream(1), stats, [&] { return Error429(3600); });
  EXPECT_EQ(result.error().kind, ErrorKind::kRateLimited) << "3600 s are over the total";
  policy.total_s = 4000;
  const auto stopped = Retry(policy, RandomStream(1), stats, [&] { return Error429(3600); });
  EXPECT_EQ(stopped.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(stats.retries(), 0);
}

TEST(Retry, ALongWaitEndsWithTheRun) {
  std::atomic<bool> stop = false;
  const Sleeper sleep = SleepUnless(stop);
  EXPECT_TRUE(sleep(0.12));
  std::thread stopping([&] { stop = true; });
  EXPECT_FALSE(sleep(3600));
  stopping.join();
}

TEST(CallStats, TellsWhatHappened) {
  CallStats stats;
  stats.AddCall(10, 20);
  stats.AddCall(1, 0);
  stats.AddRetry();
  stats.AddError(ErrorKind::kTimeout);
  EXPECT_EQ(stats.Json().dump(),
            R"({"bytes_received":20,"bytes_sent":11,"calls":2,"errors":{"timeout":1},)"
            R"("reconnects":0,"retries":1})");
}

}  // namespace
}  // namespace agentr
