// What every implementation of Decoder is made from.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/weights/model_config.h"

namespace agentr {

struct DecoderPlan {
  ModelConfig config;       // of the model
  WeightType type{};        // to compute in, and to keep keys and values in
  int32_t max_context = 0;  // positions
  int64_t cache_bytes = 0;  // for keys and values
  int threads = 1;          // of the CPU
};

// The number of blocks of `block_bytes` in `cache_bytes`. Throws FatalError(kUsage) where there is
// not one.
int32_t BlocksOfPool(int64_t cache_bytes, int64_t block_bytes);

// The frequency of each pair of a head's values [head_dim / 2], radians per position: rotary
// embedding (Su et al. 2021), with the scaling of Llama 3.1 where the configuration asks for it.
std::vector<float> RotaryFrequencies(const ModelConfig& config);

}  // namespace agentr
