// The decoder in LibTorch's operators, on any device: the path for GPUs, and the plain reference
// for the kernels of the CPU (cpu_decoder.h).
//
// LibTorch takes half a second and 160 MB to start, so it stands in a module of its own beside the
// programs, libagentr_aten.so, which is loaded when the first such decoder is made.
#pragma once

#include <memory>
#include <string>

#include "lm/decoder/decoder.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/weights/weight_source.h"

namespace agentr {

// With `reference`, attention is computed slice by slice with an explicit softmax; without,
// sequences with one new token go side by side through LibTorch's fused attention where it has one.
// Copies the weights. Throws FatalError: kUsage for a device that this LibTorch does not have,
// kFile where the module or LibTorch cannot be loaded, else as PlaceWeights.
std::unique_ptr<Decoder> MakeAtenDecoder(const DecoderPlan& plan, const WeightSource& weights,
                                         const std::string& device, bool reference);

}  // namespace agentr

// The module's one entry: MakeAtenDecoder; the caller owns the decoder.
extern "C" agentr::Decoder* agentr_make_aten_decoder(const agentr::DecoderPlan& plan,
                                                     const agentr::WeightSource& weights,
                                                     const std::string& device, bool reference);
