#include "lm/decoder/load_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "common/error.h"
#include "common/options.h"
#include "common/usable_cores.h"
#include "lm/decoder/aten_decoder.h"
#include "lm/decoder/cpu_decoder.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/weights/safetensors.h"

namespace agentr {
namespace {

WeightType ParseType(const std::string& name, WeightType of_file) {
  if (name == "auto") return of_file;
  if (name == "float32") return WeightType::kF32;
  if (name == "bfloat16") return WeightType::kBF16;
  if (name == "float16") return WeightType::kF16;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--dtype {} is not auto, float32, bfloat16 or float16", name));
}

DecoderPlan MakePlan(const ModelConfig& config, const DecoderOptions& options) {
  DecoderPlan plan;
  plan.config = config;
  plan.type = ParseType(options.dtype, config.weight_type);
  const int64_t limit = std::min<int64_t>(config.max_context, std::numeric_limits<int32_t>::max());
  if (options.max_context > limit) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--model_context {}: the model was made for {} positions",
                                 options.max_context, limit));
  }
  plan.max_context = options.max_context > 0 ? options.max_context : static_cast<int32_t>(limit);
  plan.cache_bytes = static_cast<int64_t>(options.kv_cache_gib * (int64_t{1} << 30));
  plan.threads = options.threads > 0 ? options.threads : UsableCores();
  return plan;
}

}  // namespace

void Declare(OptionSet& set, DecoderOptions& o) {
  set.Group("Local model");
  set.Add("--device", o.device, "Where the model runs: cpu, cuda or cuda:N");
  set.Add("--dtype", o.dtype, "Type in which the model computes; auto: that of its weights")
      .OneOf({"auto", "float32", "bfloat16", "float16"});
  set.Add("--model_context", o.max_context, "Positions of a sequence; 0: the model's limit").Min(0);
  set.Add("--kv_cache_gib", o.kv_cache_gib, "Memory for keys and values, GiB")
      .Min(0)
      .Formerly("--cache_gib");
  set.Add("--model_threads", o.threads,
          "Threads of the model on the CPU; 0: all cores that the process may use")
      .Min(0);
}

std::unique_ptr<Decoder> LoadDecoder(const std::filesystem::path& folder,
                                     const DecoderOptions& options) {
  return MakeDecoder(ReadModelConfig(folder), std::make_shared<WeightFiles>(folder), options);
}

std::unique_ptr<Decoder> MakeDecoder(const ModelConfig& config,
                                     std::shared_ptr<const WeightSource> weights,
                                     const DecoderOptions& options) {
  const DecoderPlan plan = MakePlan(config, options);
  if (options.device == "cpu" && !options.reference) {
    return MakeCpuDecoder(plan, std::move(weights), AvailableSimd().back());
  }
  return MakeAtenDecoder(plan, *weights, options.device, options.reference);
}

}  // namespace agentr
