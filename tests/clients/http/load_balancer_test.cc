#include "clients/http/load_balancer.h"

#include <gtest/gtest.h>

namespace agentr {
namespace {

struct Balanced {
  LoadBalancer::Clock::time_point now{};
  LoadBalancer balancer;
  explicit Balanced(size_t count) : balancer(count, /*cool_down_s=*/5, [this] { return now; }) {}
  void Pass(int seconds) { now += std::chrono::seconds(seconds); }
};

TEST(LoadBalancer, ChoosesTheLeastLoaded) {
  Balanced b(3);
  EXPECT_EQ(b.balancer.Acquire(), 0u);
  EXPECT_EQ(b.balancer.Acquire(), 1u);
  EXPECT_EQ(b.balancer.Acquire(), 2u);
  b.balancer.Release(1);
  EXPECT_EQ(b.balancer.Acquire(), 1u);
}

TEST(LoadBalancer, LeavesOutWhatFailedForAWhile) {
  Balanced b(2);
  b.balancer.Fault(0);
  EXPECT_TRUE(b.balancer.CoolingDown(0));
  EXPECT_EQ(b.balancer.Acquire(), 1u);
  EXPECT_EQ(b.balancer.Acquire(), 1u);
  b.Pass(5);
  EXPECT_FALSE(b.balancer.CoolingDown(0));
  EXPECT_EQ(b.balancer.Acquire(), 0u);
}

TEST(LoadBalancer, WhenAllFailedTakesTheOneThatIsBackFirst) {
  Balanced b(2);
  b.balancer.Fault(1);
  b.Pass(1);
  EXPECT_TRUE(b.balancer.AnyAvailable());
  b.balancer.Fault(0);
  EXPECT_FALSE(b.balancer.AnyAvailable());
  EXPECT_EQ(b.balancer.Acquire(), 1u);
  EXPECT_EQ(b.balancer.Acquire(), 1u);
}

TEST(LoadBalancer, NeverChoosesTheExcluded) {
  Balanced b(2);
  b.balancer.Exclude(0);
  b.balancer.Fault(1);
  EXPECT_EQ(b.balancer.Acquire(), 1u);
  EXPECT_FALSE(b.balancer.AnyAvailable());
}

}  // namespace
}  // namespace agentr
