// The decoder on the CPU: our own kernels (kernels.h) on packed weights. A team of threads
// divides the columns, heads or rows of each step.
//
// Activations are float32; with bfloat16 the left side of each product is rounded to it. A row's
// logits have the same bits for every batch, every division of a prompt into chunks and every
// number of threads.
#pragma once

#include <memory>

#include "lm/decoder/decoder.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/decoder/model_weights.h"
#include "lm/kernels/kernels.h"

namespace agentr {

// Copies the weights, except the embedding of an immutable source, whose rows it reads there.
// Throws FatalError: kUsage for a shape that the kernels do not support, and what PlaceWeights
// throws.
std::unique_ptr<Decoder> MakeCpuDecoder(const DecoderPlan& plan,
                                        std::shared_ptr<const WeightSource> weights, Simd simd);

}  // namespace agentr
