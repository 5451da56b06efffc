// What the speed of training is measured by: matrix products of the machine, and memory.
#pragma once

#include <ATen/ATen.h>

#include "lm/weights/model_config.h"

namespace agentr {

// Operations per second of a matrix product of the shape of the model's MLP, 1,024 rows, in `type`:
// the fastest of some. Takes up to half a second.
double MeasureMatmulLimit(at::ScalarType type, const ModelConfig& config);

// Freed memory stays with the process: tensors of the same sizes come again with every micro-batch,
// and fresh pages cost a tenth of the time. For the start of a program.
void KeepFreedMemory();

double MemoryGib();      // of this process now
double PeakMemoryGib();  // at most so far

}  // namespace agentr
