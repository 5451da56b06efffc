// Measures for the speed of training: the machine's matrix products, and memory.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "lm/weights/model_config.h"
#include "training/model/network.h"

namespace agentr {

// Operations per second of a matrix product with the shape of the model's MLP and 1,024 rows, on
// the device and in the type of the options: the fastest of several. Takes up to half a second.
double MeasureMatmulLimit(const NetworkOptions& options, const ModelConfig& config);

// Makes the process keep freed memory: every micro-batch allocates tensors of the same sizes again,
// and new pages would cost a tenth of the time. Call it at the start of a program.
void KeepFreedMemory();

// "a step takes about 1:05, the 40 steps to go about 43:20", of seconds of one step and the number
// of steps to go; empty for a step under ten seconds, of which the progress line tells enough.
std::string StepForecast(double step_s, int64_t steps_to_go);

double MemoryGib();      // present memory of this process
double PeakMemoryGib();  // largest value so far

}  // namespace agentr
