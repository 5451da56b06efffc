#include "training/optim/schedule.h"

#include <gtest/gtest.h>

namespace agentr {
namespace {

TEST(Schedule, RisesAndFalls) {
  ScheduleOptions o;
  o.learning_rate = 2;
  o.warmup = 0.1;
  EXPECT_DOUBLE_EQ(LearningRate(o, 0, 100), 0);
  EXPECT_DOUBLE_EQ(LearningRate(o, 5, 100), 1);
  EXPECT_DOUBLE_EQ(LearningRate(o, 10, 100), 2);
  EXPECT_DOUBLE_EQ(LearningRate(o, 55, 100), 1);
  EXPECT_NEAR(LearningRate(o, 32, 95), 2 * 0.8535533905932737, 0.02);
  o.least = 0.5;
  EXPECT_DOUBLE_EQ(LearningRate(o, 55, 100), 1.5);
  EXPECT_NEAR(LearningRate(o, 99, 100), 1, 1e-3);
  o.shape = "linear";
  o.least = 0;
  EXPECT_DOUBLE_EQ(LearningRate(o, 28, 100), 1.6);
  o.shape = "constant";
  EXPECT_DOUBLE_EQ(LearningRate(o, 99, 100), 2);
  EXPECT_DOUBLE_EQ(LearningRate(o, 5, 100), 1);
}

TEST(Schedule, NoWarmupAndASingleStep) {
  ScheduleOptions o;
  o.warmup = 0;
  EXPECT_DOUBLE_EQ(LearningRate(o, 0, 1), o.learning_rate);
  o.warmup = 0.03;  // a single step without a rate would change nothing
  EXPECT_DOUBLE_EQ(LearningRate(o, 0, 1), o.learning_rate);
}

}  // namespace
}  // namespace agentr
