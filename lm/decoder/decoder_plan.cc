#include "lm/decoder/decoder_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "common/error.h"

namespace agentr {

int64_t DefaultCacheBytes(int64_t position_bytes, int32_t max_context, int64_t memory) {
  constexpr int64_t kSequences = 32, kLeast = int64_t{1} << 30;
  return std::min(std::max(kLeast, kSequences * max_context * position_bytes), memory / 4);
}

int32_t BlocksOfPool(int64_t cache_bytes, int64_t block_bytes) {
  const int64_t blocks = cache_bytes / block_bytes;
  if (blocks < 1) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--kv_cache_gib: {} bytes are too few for one block of keys and "
                                 "values, which takes {} bytes. Cure: a higher --kv_cache_gib",
                                 cache_bytes, block_bytes));
  }
  return static_cast<int32_t>(std::min<int64_t>(blocks, std::numeric_limits<int32_t>::max()));
}

std::vector<float> RotaryFrequencies(const ModelConfig& config, bool window, int64_t context) {
  if (context == 0) context = config.max_context;
  const bool longer = context > config.rope_context;
  const std::vector<double>& divisors = longer && !config.long_rope_divisors.empty()
                                            ? config.long_rope_divisors
                                            : config.rope_divisors;
  // The base grows by this to the power of dim / (dim - 2).
  const double growth = config.rope_growth > 0 && longer
                            ? config.rope_growth * static_cast<double>(context) /
                                      static_cast<double>(config.rope_context) -
                                  (config.rope_growth - 1)
                            : 1;
  std::vector<float> frequencies;
  for (int64_t i = 0; i < config.head_dim; i += 2) {
    const double exponent = static_cast<double>(i) / static_cast<double>(config.head_dim);
    double frequency = std::pow(window ? config.window_rope_theta : config.rope_theta, -exponent);
    if (window) {
      frequencies.push_back(static_cast<float>(frequency));
      continue;
    }
    if (config.llama3_rope) {
      // Long wavelengths are stretched by `factor`, short ones stay, and those in between are
      // interpolated.
      const Llama3Rope& rope = *config.llama3_rope;
      const double turns =
          rope.original_max_position_embeddings * frequency / (2 * std::numbers::pi);
      const double kept = std::clamp(
          (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor), 0.0,
          1.0);
      frequency = kept * frequency + (1 - kept) * frequency / rope.factor;
    }
    if (!divisors.empty()) frequency /= divisors[i / 2];
    if (growth != 1) {
      frequency *=
          std::pow(growth, -static_cast<double>(i) / static_cast<double>(config.head_dim - 2));
    }
    frequencies.push_back(static_cast<float>(frequency));
  }
  return frequencies;
}

}  // namespace agentr
