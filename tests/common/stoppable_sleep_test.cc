#include "common/stoppable_sleep.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace agentr {
namespace {

TEST(SleepUnlessStopped, EndsByItselfAfterItsTime) {
  const std::stop_source source;
  EXPECT_TRUE(SleepUnlessStopped(source.get_token(), std::chrono::milliseconds(1)));
}

TEST(SleepUnlessStopped, EndsWhenItsThreadIsDestroyed) {
  bool slept = true;
  {
    // The destructor would wait for a day if the request did not wake the thread.
    const std::jthread thread([&slept](const std::stop_token& stop) {
      slept = SleepUnlessStopped(stop, std::chrono::hours(24));
    });
  }
  EXPECT_FALSE(slept);
}

TEST(SleepUnlessStopped, DoesNotBeginOnceAStopIsRequested) {
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(SleepUnlessStopped(source.get_token(), std::chrono::hours(24)));
}

}  // namespace
}  // namespace agentr
