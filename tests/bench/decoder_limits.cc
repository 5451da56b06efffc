#include "tests/bench/decoder_limits.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/error.h"
#include "common/simd.h"
#include "lm/decoder/aligned_buffer.h"
#include "training/speed.h"

namespace agentr {
namespace {

// A cache line, of which one word is read: a loop over all words can be slower than the memory.
struct alignas(64) Line {
  uint64_t word = 1;
};

// Bytes per second that `threads` threads read together, each from memory of its own that no cache
// holds: the fastest of five.
double MeasureMemory(int threads) {
  constexpr size_t kLines = size_t{4} << 20;  // 256 MiB a thread
  std::vector<AlignedBuffer> memory;          // as that of the decoder's weights
  for (int i = 0; i < threads; ++i) {
    memory.emplace_back(kLines * sizeof(Line));
    std::uninitialized_fill_n(reinterpret_cast<Line*>(memory[i].data()), kLines, Line{});
  }
  double fastest = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<uint64_t> sums(threads);
    const auto begin = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> readers;
      for (int i = 0; i < threads; ++i) {
        readers.emplace_back([&, i] {
          uint64_t sum = 0;
          const auto* const lines = reinterpret_cast<const Line*>(memory[i].data());
          for (const Line& line : std::span(lines, kLines)) sum += line.word;
          sums[i] = sum;
        });
      }
    }
    const double s = SecondsSince(begin);
    const auto lines = std::accumulate(sums.begin(), sums.end(), uint64_t{0});
    fastest = std::max(fastest, sizeof(Line) * static_cast<double>(lines) / s);
  }
  return fastest;
}

// Operations per second of LibTorch's product of the same matrices as MeasureMatmulLimit's.
double MeasureLibTorch(const ModelConfig& config, at::ScalarType type) {
  constexpr int64_t kRows = 1024;
  const at::Tensor x = at::ones({kRows, config.hidden_size}, at::dtype(type));
  const at::Tensor w = at::ones({config.hidden_size, config.intermediate_size}, at::dtype(type));
  double fastest = 0;
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    at::mm(x, w);
    fastest = std::max(fastest, 2.0 * kRows * static_cast<double>(w.numel()) / SecondsSince(begin));
  }
  return fastest;
}

// Operations per second of matrix products at this level; measured once for each type. LibTorch
// does not know of a lowered level.
double MatmulLimit(const ModelConfig& config, const std::string& dtype) {
  const bool narrow = dtype == "bfloat16" && ActiveSimd() >= Simd::kAvx512Bf16;
  const auto type = narrow ? at::kBFloat16 : at::kFloat;
  static std::map<at::ScalarType, double> measured;
  const auto [at, is_new] = measured.try_emplace(type);
  if (is_new) {
    at->second = MeasureMatmulLimit({.device = at::kCPU, .type = type}, config);
    if (ActiveSimd() == AvailableSimd().back()) {
      at->second = std::max(at->second, MeasureLibTorch(config, type));
    }
  }
  return at->second;
}

}  // namespace

DecoderLimits::DecoderLimits(const std::filesystem::path& model, int threads)
    : config_(ReadModelConfig(model)), memory_bytes_per_s_(MeasureMemory(threads)) {
  if (config_.experts > 0) {
    throw FatalError(ExitCode::kUsage, "--limits does not know what a model with experts reads");
  }
  at::set_num_threads(threads);
  output_ = static_cast<double>(config_.hidden_size * config_.vocab_size);
  const auto source = OpenWeights(model);
  for (const auto& [name, weight] : source->weights()) {
    const bool embedding =
        weight.shape.size() == 2 &&
        (name.find("embed") != std::string::npos || name.find("token_embd") != std::string::npos);
    if (weight.shape.size() < 2 || (embedding && !config_.tied_embeddings)) continue;
    numbers_ += static_cast<double>(weight.shape[0] * weight.shape[1]);
    file_bytes_ += static_cast<double>(weight.data.size());
    quantised_ = quantised_ || IsQuantised(weight.type);
  }
}

double DecoderLimits::Prefill(const std::string& dtype, int prompt) const {
  if (dtype != "float32" && dtype != "bfloat16") return 0;
  const double attention =
      2.0 * static_cast<double>(config_.num_layers * config_.num_heads * config_.head_dim) *
      (prompt + 1);
  const double flops = prompt * (2 * (numbers_ - output_) + attention) + 2 * output_;
  return prompt * MatmulLimit(config_, dtype) / flops;
}

double DecoderLimits::Decode(const std::string& dtype, int batch, double positions,
                             double kv_bytes) const {
  static const std::map<std::string, double> kBytes = {
      {"float32", 4}, {"bfloat16", 2}, {"float16", 2}, {"q8_0", 34.0 / 32}, {"q4_0", 18.0 / 32}};
  const auto bytes = kBytes.find(dtype);
  // Weights in blocks stay as they are in the file, whichever type of blocks is named.
  const bool as_in_file = bytes == kBytes.end() || (quantised_ && dtype.starts_with('q'));
  const double weights = as_in_file ? file_bytes_ : numbers_ * bytes->second;
  return batch * memory_bytes_per_s_ / (weights + batch * positions * kv_bytes);
}

}  // namespace agentr
