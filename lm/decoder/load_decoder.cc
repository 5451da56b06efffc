#include "lm/decoder/load_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "common/error.h"
#include "common/machine_limits.h"
#include "common/options.h"
#include "lm/decoder/aten_decoder.h"
#include "lm/decoder/cpu_decoder.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/weights/safetensors.h"

namespace agentr {
namespace {

constexpr std::array<NamedValue<WeightType>, 6> kTypes = {{{"float32", WeightType::kF32},
                                                           {"bfloat16", WeightType::kBF16},
                                                           {"float16", WeightType::kF16},
                                                           {"q8_0", WeightType::kQ8_0},
                                                           {"q4_0", WeightType::kQ4_0},
                                                           {"q8", WeightType::kQ8_0}}};

WeightType ParseType(std::string_view flag, const std::string& name) {
  if (const auto type = ValueOf(kTypes, name)) return *type;
  throw FatalError(ExitCode::kUsage, fmt::format("{} {} is none of the types", flag, name));
}

bool HasQuantised(const WeightSource& source) {
  return std::ranges::any_of(source.weights(),
                             [](const auto& named) { return IsQuantised(named.second.type); });
}

// Types that follow from each other: by default a model computes in the type of its weights, and so
// are its keys and values; beside quantised weights they are bfloat16.
void ChooseTypes(const WeightSource& source, const DecoderOptions& options, DecoderPlan& plan) {
  if (options.dtype != "auto") {
    plan.weights = ParseType("--dtype", options.dtype);
  } else if (!HasQuantised(source)) {
    plan.weights = plan.config.weight_type;
  }
  plan.number_type =
      plan.weights && !IsQuantised(*plan.weights) ? *plan.weights : WeightType::kBF16;
  plan.kv_type =
      options.kv_dtype == "auto" ? plan.number_type : ParseType("--kv_dtype", options.kv_dtype);
}

// LibTorch's operators and GPUs take all of it at once.
int64_t CacheBytes(const DecoderOptions& options, const DecoderPlan& plan) {
  constexpr int64_t kGib = int64_t{1} << 30;
  if (options.kv_cache_gib > 0) return static_cast<int64_t>(options.kv_cache_gib * kGib);
  if (options.device != "cpu" || options.reference) return kGib;
  const ModelConfig& config = plan.config;
  const int64_t position_bytes =
      2 * config.num_layers * config.num_kv_heads * config.head_dim * NumberBytes(plan.kv_type);
  return DefaultCacheBytes(position_bytes, plan.max_context, UsableMemory());
}

DecoderPlan MakePlan(const ModelConfig& config, const WeightSource& source,
                     const DecoderOptions& options) {
  DecoderPlan plan;
  plan.config = config;
  ChooseTypes(source, options, plan);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t limit = std::min(config.LongestContext(), kMost);
  if (options.max_context > limit) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--model_context {}: the model was made for {} positions",
                                 options.max_context, limit));
  }
  plan.max_context = options.max_context > 0
                         ? options.max_context
                         : static_cast<int32_t>(std::min(config.max_context, kMost));
  plan.cache_bytes = CacheBytes(options, plan);
  plan.threads = options.threads > 0 ? options.threads : UsableCores();
  return plan;
}

}  // namespace

void Declare(OptionSet& set, DecoderOptions& o) {
  set.Group("Local model");
  set.Add("--device", o.device, "Where the model runs: cpu, cuda or cuda:N").OnlySpeed();
  set.Add("--dtype", o.dtype,
          "Type of the weights in memory; auto: their own; q8_0, q4_0: quantised while loading")
      .OneOf({"auto", "float32", "bfloat16", "float16", "q8_0", "q4_0"});
  set.Add("--kv_dtype", o.kv_dtype,
          "Type of keys and values; auto: that of the weights, bfloat16 if they are quantised; q8: "
          "bytes")
      .OneOf({"auto", "float32", "bfloat16", "float16", "q8"});
  set.Add("--model_context", o.max_context, "Positions of a sequence; 0: the model's limit").Min(0);
  set.Add("--kv_cache_gib", o.kv_cache_gib, kKvCacheHelp)
      .Min(0)
      .Formerly("--cache_gib")
      .OnlySpeed();
  set.Add("--model_threads", o.threads,
          "Threads of the model on the CPU; 0: all cores that the process may use")
      .Min(0)
      .OnlySpeed();
}

std::unique_ptr<Decoder> MakeDecoder(const ModelConfig& config,
                                     std::shared_ptr<const WeightSource> weights,
                                     const DecoderOptions& options) {
  const DecoderPlan plan = MakePlan(config, *weights, options);
  if (options.device == "cpu" && !options.reference) {
    return MakeCpuDecoder(plan, std::move(weights), ActiveSimd());
  }
  if (HasQuantised(*weights)) {
    throw FatalError(ExitCode::kUsage,
                     "only the CPU computes with the quantised weights of a GGUF file. Cure: "
                     "--device cpu, or a folder with the same model in bfloat16");
  }
  if ((plan.weights && IsQuantised(*plan.weights)) || options.kv_dtype != "auto") {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--dtype {} --kv_dtype {}: only the CPU computes with quantised "
                                 "weights and with other types of keys than of weights. Cure: "
                                 "--dtype bfloat16 without --kv_dtype, or --device cpu",
                                 options.dtype, options.kv_dtype));
  }
  return MakeAtenDecoder(plan, *weights, options.device, options.reference);
}

}  // namespace agentr
