// The learning rate over the steps of a run: it increases linearly during the warm-up and then
// stays constant, or decreases to `least` times its maximum linearly or as half a cosine wave.
#pragma once

#include <cstdint>
#include <string>

namespace agentr {

class OptionSet;

struct ScheduleOptions {
  double learning_rate = 2e-5;
  std::string shape = "cosine";  // constant | linear | cosine
  double warmup = 0.03;          // share of all steps
  double least = 0;              // final value as a share of the learning rate
};

// The largest learning rate of any option: with a larger one the step of a single weight may not be
// a number of float32.
inline constexpr double kMostLearningRate = 1e30;

// Declares --lr, --lr_schedule, --warmup and --lr_least.
void Declare(OptionSet& set, ScheduleOptions& options);

// The learning rate of step `step`, 0 … steps - 1. The first step after ceil(warmup * steps) steps
// has the full rate.
double LearningRate(const ScheduleOptions& options, int64_t step, int64_t steps);

}  // namespace agentr
