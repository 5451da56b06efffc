// The parameters from which every implementation of Decoder is made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lm/weights/model_config.h"

namespace agentr {

struct DecoderPlan {
  ModelConfig config;  // of the model
  // The type of the matrices in memory; none: as they are in the file.
  std::optional<WeightType> weights;
  WeightType number_type{};  // in which LibTorch's operators compute
  WeightType kv_type{};      // of keys and values
  int32_t max_context = 0;   // positions
  int64_t cache_bytes = 0;   // for keys and values
  int threads = 1;           // CPU threads
};

// The memory for keys and values where none is named: enough for 32 sequences of `max_context`
// positions, at least 1 GiB, but never more than a quarter of `memory`, the bytes of the machine.
// On the CPU only what is used is taken.
int64_t DefaultCacheBytes(int64_t position_bytes, int32_t max_context, int64_t memory);

// The number of blocks of `block_bytes` in `cache_bytes`. Throws FatalError(kUsage) if it is 0.
int32_t BlocksOfPool(int64_t cache_bytes, int64_t block_bytes);

// The frequency of each pair of a head's values [head_dim / 2], in radians per position: rotary
// embedding (Su et al. 2021), with the scaling of the configuration. `window`: those of the layers
// with a window, where these have their own (ModelConfig::HasWindowRope).
//
// Dynamic NTK scaling and LongRoPE have other frequencies for long contexts. Because keys are kept,
// a model has one set of them: those for `context` positions (0: max_context), the most that it
// will compute. transformers has those of each text's present length.
std::vector<float> RotaryFrequencies(const ModelConfig& config, bool window = false,
                                     int64_t context = 0);

}  // namespace agentr
