// The Decoder of a Hugging Face folder: Llama 3, Mistral, Qwen2/2.5 and Qwen3 models, by our own
// kernels on the CPU and by LibTorch elsewhere.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "lm/decoder/decoder.h"
#include "lm/weights/model_config.h"
#include "lm/weights/weight_source.h"

namespace agentr {

class OptionSet;

struct DecoderOptions {
  std::string device = "cpu";  // cpu | cuda | cuda:N
  std::string dtype = "auto";  // auto (the file's) | float32 | bfloat16 | float16
  int max_context = 0;         // positions; 0: the model's own limit
  double kv_cache_gib = 1;     // memory for keys and values
  int threads = 0;             // of the CPU; 0: all cores
  bool reference = false;      // plain operators in place of the fast ones, for comparison
};

// --device, --dtype, --model_context, --kv_cache_gib, --model_threads.
void Declare(OptionSet& set, DecoderOptions& options);

// Throws FatalError: kFile naming a weight that is missing, not used or of another shape, and both
// shapes; kUsage for a device that this LibTorch does not have.
std::unique_ptr<Decoder> LoadDecoder(const std::filesystem::path& folder,
                                     const DecoderOptions& options);

// The same for a model whose configuration and weights are at hand, as a trainer's are.
std::unique_ptr<Decoder> MakeDecoder(const ModelConfig& config,
                                     std::shared_ptr<const WeightSource> weights,
                                     const DecoderOptions& options);

}  // namespace agentr
