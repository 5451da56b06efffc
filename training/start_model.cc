#include "training/start_model.h"

#include <fmt/core.h>

#include <array>
#include <filesystem>

#include "common/file.h"
#include "common/hash.h"
#include "common/options.h"
#include "lm/weights/safetensors.h"

namespace agentr {
namespace {

constexpr std::array<NamedValue<InitialAttention>, 2> kInitialAttentions = {
    {{"random", InitialAttention::kRandom}, {"induction", InitialAttention::kInduction}}};

}  // namespace

void Declare(OptionSet& set, StartModel& start) {
  set.Add("--model_dir", start.dir, "Hugging Face folder of the model to start from");
  set.Add("--from_scratch", start.from_scratch,
          "Start from random weights (by --seed): only config.json and the tokenizer are read from "
          "the folder");
  set.AddNamed("--initial_attention", start.attention, kInitialAttentions,
               "With --from_scratch: random, or induction, which lets small models copy from the "
               "prompt from the first step on");
}

std::unique_ptr<WeightSource> FirstWeights(const StartModel& start, const ModelConfig& config,
                                           uint64_t seed) {
  if (!start.from_scratch) return std::make_unique<WeightFiles>(start.dir);
  return std::make_unique<InitialWeights>(config, seed, start.attention);
}

JobFingerprint ModelFingerprint(const StartModel& start) {
  if (start.dir.empty()) return {};
  const std::string tokenizer =
      Sha256(ReadFile(std::filesystem::path(start.dir) / "tokenizer.json"));
  const std::string model = ModelHash(start);
  return {{"--model_dir", model, fmt::format("{} (hash {:.8})", start.dir, model)},
          {"the tokenizer of --model_dir", tokenizer,
           fmt::format("{} (hash {:.8})", start.dir, tokenizer)}};
}

std::string ModelHash(const StartModel& start) {
  const std::string config = ReadFile(std::filesystem::path(start.dir) / "config.json");
  if (!start.from_scratch) return Sha256(config + DescribeWeights(WeightFiles(start.dir)));
  return fmt::format("{} from scratch {}", Sha256(config),
                     NameOf(kInitialAttentions, start.attention));
}

}  // namespace agentr
