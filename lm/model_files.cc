#include "lm/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "common/error.h"
#include "common/file.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/tokenizer/gguf_tokenizer.h"
#include "lm/weights/gguf_model.h"
#include "lm/weights/model_config.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// Beside config.json.
constexpr const char* kCompanions[] = {"generation_config.json",
                                       "tokenizer.json",
                                       "tokenizer_config.json",
                                       "special_tokens_map.json",
                                       "added_tokens.json",
                                       "vocab.json",
                                       "merges.txt",
                                       "tokenizer.model",
                                       "chat_template.jinja",
                                       "chat_template.json"};

// The parameters of Llama 3's scaling, of which a GGUF file has only the divisors that follow: the
// factor is the greatest, and one between 1 and the factor tells the original context. The factors
// of frequency are those of all released models.
nlohmann::json Llama3Scaling(const fs::path& file) {
  const ModelConfig divided = ReadModelConfig(file);
  ModelConfig scaled = divided;
  scaled.rope_divisors.clear();
  Llama3Rope rope{.factor = std::ranges::max(divided.rope_divisors)};
  for (size_t i = 0; i < divided.rope_divisors.size(); ++i) {
    const double divisor = divided.rope_divisors[i];
    if (divisor < 1.001 || divisor > rope.factor * 0.999) continue;
    const double kept = (1 / divisor - 1 / rope.factor) / (1 - 1 / rope.factor);
    const double turns =
        rope.low_freq_factor + kept * (rope.high_freq_factor - rope.low_freq_factor);
    const double frequency = std::pow(
        divided.rope_theta, -2 * static_cast<double>(i) / static_cast<double>(divided.head_dim));
    rope.original_max_position_embeddings = std::round(turns * 2 * std::numbers::pi / frequency);
  }
  scaled.llama3_rope = rope;
  const std::vector<float> wanted = RotaryFrequencies(divided), got = RotaryFrequencies(scaled);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::abs(got[i] / wanted[i] - 1) < 1e-4) continue;
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: its rotary frequencies are not those of Llama 3.1, which a "
                                 "folder could describe",
                                 file.string()));
  }
  return {{"rope_type", "llama3"},
          {"factor", rope.factor},
          {"low_freq_factor", rope.low_freq_factor},
          {"high_freq_factor", rope.high_freq_factor},
          {"original_max_position_embeddings", rope.original_max_position_embeddings}};
}

std::map<std::string, std::string> GgufFiles(const fs::path& path) {
  const GgufFile file(path);
  nlohmann::json config = GgufConfig(file);
  config["architectures"] = {FamilyOf(config["model_type"].get<std::string>()).architecture};
  if (config.contains("rope_parameters") &&
      config["rope_parameters"]["rope_type"] == kDividedRope) {
    config.erase("rope_parameters");
    config["rope_scaling"] = Llama3Scaling(path);
  }
  nlohmann::json generation = nlohmann::json::object();
  for (const char* name : {"bos_token_id", "eos_token_id"}) {
    if (config.contains(name)) generation[name] = config[name];
  }
  const TokenizerConfig tokens = GgufTokenizerConfig(file);
  nlohmann::json tokenizer = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                              {"clean_up_tokenization_spaces", false},
                              {"model_max_length", config["max_position_embeddings"]}};
  for (const auto& [name, text] : tokens.special_tokens) tokenizer[name] = text;
  if (tokens.adds_bos) tokenizer["add_bos_token"] = *tokens.adds_bos;
  if (!tokens.chat_template.empty()) tokenizer["chat_template"] = tokens.chat_template;
  return {{"config.json", config.dump(2) + "\n"},
          {"generation_config.json", generation.dump(2) + "\n"},
          {"tokenizer.json", GgufTokenizerJson(file).dump()},
          {"tokenizer_config.json", tokenizer.dump(2) + "\n"}};
}

}  // namespace

std::map<std::string, std::string> ModelFiles(const fs::path& model) {
  if (IsGguf(model)) return GgufFiles(model);
  std::map<std::string, std::string> files = {{"config.json", ReadFile(model / "config.json")}};
  for (const char* name : kCompanions) {
    if (fs::exists(model / name)) files[name] = ReadFile(model / name);
  }
  return files;
}

}  // namespace agentr
