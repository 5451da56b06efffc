#include "training/speed.h"

#include <gtest/gtest.h>

namespace agentr {
namespace {

TEST(StepForecast, TellsOfLongStepsHowLongOneAndAllTake) {
  EXPECT_EQ(StepForecast(65, 40), "a step takes about 1:05, the 40 steps to go about 43:20");
  EXPECT_EQ(StepForecast(9.9, 1000), "");
}

}  // namespace
}  // namespace agentr
