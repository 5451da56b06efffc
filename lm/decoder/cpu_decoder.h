// The decoder on the CPU: kernels of our own (cpu_kernels.h) over packed weights, by a team of
// threads that share each step's columns, heads or rows.
//
// Activations are float32; with bfloat16 the left side of each product is rounded to it. A row's
// logits are the same to the bit whatever else is in the batch, however a prompt is cut into
// pieces, and with any number of threads.
#pragma once

#include <memory>

#include "lm/decoder/cpu_kernels.h"
#include "lm/decoder/decoder.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/decoder/model_weights.h"

namespace agentr {

// Copies the weights; but of a source that is immutable the embedding, whose rows it reads from
// there. Throws FatalError: kUsage for a shape that the kernels do not have, else as PlaceWeights.
std::unique_ptr<Decoder> MakeCpuDecoder(const DecoderPlan& plan,
                                        std::shared_ptr<const WeightSource> weights, Simd simd);

}  // namespace agentr
