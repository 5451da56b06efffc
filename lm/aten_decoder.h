// The decoder in LibTorch's operators, on any device: the path for GPUs, and the plain reference
// for the kernels of the CPU (cpu_decoder.h).
#pragma once

#include <memory>
#include <string>

#include "lm/decoder.h"
#include "lm/decoder_plan.h"
#include "lm/model_weights.h"

namespace agentr {

// With `reference`, attention is computed slice by slice with an explicit softmax; without,
// sequences with one new token go side by side through LibTorch's fused attention where it has one.
// Copies the weights. Throws FatalError(kUsage) for a device that this LibTorch does not have.
std::unique_ptr<Decoder> MakeAtenDecoder(const DecoderPlan& plan, const ModelWeights& weights,
                                         const std::string& device, bool reference);

}  // namespace agentr
