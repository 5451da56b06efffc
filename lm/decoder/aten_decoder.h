// The decoder with LibTorch's operators, on any device: used on GPUs, and as the plain reference
// for the CPU kernels (cpu_decoder.h).
//
// LibTorch needs half a second and 160 MB to start, so this decoder is in a separate module beside
// the programs, libagentr_aten.so, which is loaded when the first such decoder is made.
#pragma once

#include <memory>
#include <string>

#include "lm/decoder/decoder.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/weights/weight_source.h"

namespace agentr {

// With `reference`, attention is computed chunk by chunk with an explicit softmax. Without it,
// sequences with one new token share one call of LibTorch's fused attention, if it has one. Copies
// the weights. Throws FatalError: kUsage for a device that this LibTorch does not have, kFile if
// the module or LibTorch cannot be loaded, and what PlaceWeights throws.
std::unique_ptr<Decoder> MakeAtenDecoder(const DecoderPlan& plan, const WeightSource& weights,
                                         const std::string& device, bool reference);

}  // namespace agentr

// The module's only entry point, called by MakeAtenDecoder; the caller owns the decoder.
extern "C" agentr::Decoder* agentr_make_aten_decoder(const agentr::DecoderPlan& plan,
                                                     const agentr::WeightSource& weights,
                                                     const std::string& device, bool reference);
