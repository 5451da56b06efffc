// A model of any shape with random weights, as a Hugging Face folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "lm/weights/model_config.h"

namespace agentr {

// Writes config.json and the weights of `config`, stored as config.weight_type: norms near 1, the
// others uniform around 0 with `scale` / sqrt(inputs) as standard deviation. The same seed gives
// the same bytes.
void WriteRandomModel(const std::filesystem::path& folder, const ModelConfig& config, uint64_t seed,
                      double scale = 1);

// The model that benchmarks run on: a Llama of 22 million parameters.
ModelConfig SmallLlama();

// One of 0.45 billion parameters, stored in bfloat16, whose widths are multiples of 256 as the
// quantised types of GGUF files need it.
ModelConfig LargeLlama();

// Writes `config` into `write_to` if this is not empty. Else calls `measure` with the folder or
// file `model_dir`, or with a temporary one of that model if it is empty.
void BenchModel(const std::string& write_to, const std::string& model_dir,
                const std::function<void(const std::filesystem::path&)>& measure,
                const ModelConfig& config = SmallLlama());

}  // namespace agentr
