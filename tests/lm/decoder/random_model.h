// A model of any shape with random weights, as a Hugging Face folder.
#pragma once

#include <filesystem>

#include "lm/weights/model_config.h"

namespace agentr {

// Writes config.json and the weights of `config`, stored as config.weight_type: norms near 1, the
// others uniform around 0 with `scale` / sqrt(inputs) as standard deviation. The same seed gives
// the same bytes.
void WriteRandomModel(const std::filesystem::path& folder, const ModelConfig& config, uint64_t seed,
                      double scale = 1);

// The model that benchmarks run on: a Llama of 22 million parameters.
ModelConfig SmallLlama();

}  // namespace agentr
