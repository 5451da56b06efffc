// Makes the Decoder for a Hugging Face folder with a model of a supported family
// (lm/weights/model_family.h): with our own kernels on the CPU, with LibTorch elsewhere.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "lm/decoder/decoder.h"
#include "lm/weights/model_config.h"
#include "lm/weights/weight_source.h"

namespace agentr {

class OptionSet;

// What --help says of --kv_cache_gib.
inline constexpr const char* kKvCacheHelp =
    "Most memory for keys and values, GiB; 0: 1 on a GPU, else as 32 sequences of the model's "
    "length take, but at least 1, and at most a quarter of the machine's";

struct DecoderOptions {
  std::string device = "cpu";     // cpu | cuda | cuda:N
  std::string dtype = "auto";     // auto (the file's) | float32 | bfloat16 | float16 | q8_0 | q4_0
  std::string kv_dtype = "auto";  // of keys and values: auto | float32 | bfloat16 | float16 | q8
  int max_context = 0;            // positions; 0: the model's own limit
  double kv_cache_gib = 0;        // memory for keys and values; 0: DefaultCacheBytes
  int threads = 0;                // CPU threads; 0: all cores
  bool reference = false;         // use plain operators instead of the fast ones, for comparison
};

// Declares --device, --dtype, --kv_dtype, --model_context, --kv_cache_gib and --model_threads.
void Declare(OptionSet& set, DecoderOptions& options);

// Of weights in a file or in memory, such as a trainer's. Throws FatalError: kFile naming a weight
// that is missing, unused or has a wrong shape, with both shapes; kUsage for a device that this
// LibTorch does not have.
std::unique_ptr<Decoder> MakeDecoder(const ModelConfig& config,
                                     std::shared_ptr<const WeightSource> weights,
                                     const DecoderOptions& options);

}  // namespace agentr
