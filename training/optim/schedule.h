// The learning rate over the steps of a run: it rises over the warm-up in a line and then stays,
// or falls to `least` of its height in a line or half a cosine wave.
#pragma once

#include <cstdint>
#include <string>

namespace agentr {

class OptionSet;

struct ScheduleOptions {
  double learning_rate = 2e-5;
  std::string shape = "cosine";  // constant | linear | cosine
  double warmup = 0.03;          // share of all steps
  double least = 0;              // at the end, as a share of the learning rate
};

// --lr, --lr_schedule, --warmup, --lr_least.
void Declare(OptionSet& set, ScheduleOptions& options);

// Of step `step`, 0 … steps - 1. The first step after ceil(warmup * steps) steps has the full rate.
double LearningRate(const ScheduleOptions& options, int64_t step, int64_t steps);

}  // namespace agentr
