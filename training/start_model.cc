#include "training/start_model.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "common/hash.h"
#include "common/options.h"
#include "lm/found_model.h"
#include "lm/model_files.h"
#include "lm/tokenizer/tokenizer.h"
#include "lm/weights/gguf.h"
#include "lm/weights/safetensors.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr std::array<NamedValue<InitialAttention>, 2> kInitialAttentions = {
    {{"random", InitialAttention::kRandom}, {"induction", InitialAttention::kInduction}}};

}  // namespace

void Declare(OptionSet& set, StartModel& start) {
  set.Add("--model_dir", start.dir,
          "Hugging Face folder or GGUF file of the model to start from, the folder of an adapter, "
          "which is merged, or bundled, smollm2 or gemma3 (scripts/setup.sh --smollm2, --gemma3)");
  set.Add("--base_model", start.base_model,
          "Where --model_dir is an adapter of PEFT's: the model into which it is merged (default: "
          "the base that the adapter names)");
  set.Add("--from_scratch", start.from_scratch,
          "Start from random weights (by --seed): only config.json and the tokenizer are read from "
          "the folder");
  set.AddNamed("--initial_attention", start.attention, kInitialAttentions,
               "With --from_scratch: random, or induction, which lets small models copy from the "
               "prompt from the first step on");
}

StartModel Found(const StartModel& start, bool trains_adapters) {
  if (start.dir.empty() || !start.adapter.empty()) return start;
  const FoundModel model = FindModel(start.dir, start.base_model);
  StartModel found = start;
  found.dir = model.base.string();
  found.adapter = model.adapter.string();
  if (!found.adapter.empty() && (start.from_scratch || trains_adapters)) {
    throw FatalError(
        ExitCode::kUsage,
        start.from_scratch
            ? "--from_scratch takes no weights: give the folder of a model, not of an adapter"
            : "--lora_rank: the base of the new adapter would be one with another adapter merged, "
              "which is in no folder. Cure: start from a whole model, or export one with "
              "agent_train "
              "--merge_adapters 1");
  }
  return found;
}

std::shared_ptr<const WeightSource> FirstWeights(const StartModel& start, const ModelConfig& config,
                                                 uint64_t seed) {
  if (!start.from_scratch) return OpenWeights(FoundModel{start.dir, start.adapter});
  return std::make_shared<InitialWeights>(config, seed, start.attention);
}

std::string DescribeGguf(const StartModel& start) {
  if (start.from_scratch || !IsGguf(start.dir)) return "";
  std::map<std::string_view, int> types;
  const GgufFile file(start.dir);
  for (const auto& [name, tensor] : file.tensors()) ++types[Name(tensor.type)];
  std::vector<std::string> parts;
  for (const auto& [type, count] : types) parts.push_back(fmt::format("{} {}", count, type));
  return fmt::format("{}: {} tensors, dequantised to float32 for the training", NameOf(start.dir),
                     fmt::join(parts, ", "));
}

JobFingerprint ModelFingerprint(const StartModel& start) {
  if (start.dir.empty()) return {};
  const std::string tokenizer = TokenizerHash(start.dir);
  const std::string model = ModelHash(start);
  return {{"--model_dir", model, fmt::format("{} (hash {:.8})", start.dir, model)},
          {"the tokenizer of --model_dir", tokenizer,
           fmt::format("{} (hash {:.8})", start.dir, tokenizer)}};
}

std::string ModelHash(const StartModel& start) {
  const std::string config = ModelFiles(start.dir).at("config.json");
  if (!start.from_scratch) {
    std::string text = config + DescribeWeights(*OpenWeights(start.dir));
    if (!start.adapter.empty()) {
      text += ReadFile(fs::path(start.adapter) / "adapter_config.json") +
              DescribeWeights(WeightFiles(fs::path(start.adapter) / "adapter_model.safetensors"));
    }
    return Sha256(text);
  }
  return fmt::format("{} from scratch {}", Sha256(config),
                     NameOf(kInitialAttentions, start.attention));
}

}  // namespace agentr
