#include "lm/weights/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <optional>

#include "common/text.h"

namespace agentr {
namespace {

struct GgufArchitecture {
  std::string_view name;        // general.architecture
  std::string_view model_type;  // in config.json
  bool halves;                  // heads are turned in pairs of neighbours
};

constexpr std::array<GgufArchitecture, 3> kArchitectures = {
    {{"llama", "llama", true}, {"qwen2", "qwen2", false}, {"qwen3", "qwen3", false}}};

const GgufArchitecture& ArchitectureOf(const GgufFile& file) {
  const auto name = file.Get<std::string_view>("general.architecture");
  std::vector<std::string_view> names;
  for (const GgufArchitecture& known : kArchitectures) {
    if (known.name == name) return known;
    names.push_back(known.name);
  }
  file.Refuse("general.architecture",
              fmt::format("is '{}'; {} are supported", name, fmt::join(names, ", ")));
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kModelNames = {
    {{"token_embd.weight", "model.embed_tokens.weight"},
     {"output_norm.weight", "model.norm.weight"},
     {"output.weight", "lm_head.weight"}}};

// Of a layer, without "blk.N." and "model.layers.N."; ".weight" or ".bias" follows.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kLayerNames = {
    {{"attn_norm", "input_layernorm"},
     {"attn_q", "self_attn.q_proj"},
     {"attn_k", "self_attn.k_proj"},
     {"attn_v", "self_attn.v_proj"},
     {"attn_output", "self_attn.o_proj"},
     {"attn_q_norm", "self_attn.q_norm"},
     {"attn_k_norm", "self_attn.k_norm"},
     {"ffn_norm", "post_attention_layernorm"},
     {"ffn_gate", "mlp.gate_proj"},
     {"ffn_up", "mlp.up_proj"},
     {"ffn_down", "mlp.down_proj"}}};

// The name in a Hugging Face folder; empty for one without a place there.
std::string NameInFolder(std::string_view name) {
  for (const auto& [ours, theirs] : kModelNames) {
    if (name == ours) return std::string(theirs);
  }
  if (!name.starts_with("blk.")) return "";
  const size_t layer_end = name.find('.', 4), part_end = name.rfind('.');
  if (layer_end == std::string_view::npos || part_end <= layer_end) return "";
  const std::string_view part = name.substr(layer_end + 1, part_end - layer_end - 1);
  for (const auto& [ours, theirs] : kLayerNames) {
    if (part == ours) {
      return fmt::format("model.layers.{}.{}{}", name.substr(4, layer_end - 4), theirs,
                         name.substr(part_end));
    }
  }
  return "";
}

// Llama 3's scaling comes as divisors of the frequencies.
const std::string kRopeDivisors = "rope_freqs.weight";

}  // namespace

nlohmann::json GgufConfig(const GgufFile& file) {
  const GgufArchitecture& architecture = ArchitectureOf(file);
  const auto key = [&](std::string_view name) {
    return fmt::format("{}.{}", architecture.name, name);
  };
  const auto whole = [&](std::string_view name) { return file.Get<int64_t>(key(name)); };
  const int64_t vocabulary =
      file.Has("tokenizer.ggml.tokens")
          ? std::ssize(file.Get<std::vector<std::string_view>>("tokenizer.ggml.tokens"))
          : whole("vocab_size");
  nlohmann::json config = {{"model_type", architecture.model_type},
                           {"vocab_size", vocabulary},
                           {"hidden_size", whole("embedding_length")},
                           {"intermediate_size", whole("feed_forward_length")},
                           {"num_hidden_layers", whole("block_count")},
                           {"num_attention_heads", whole("attention.head_count")},
                           {"max_position_embeddings", whole("context_length")},
                           {"rms_norm_eps", file.Number(key("attention.layer_norm_rms_epsilon"))},
                           {"tie_word_embeddings", !file.tensors().contains("output.weight")},
                           {"dtype", "bfloat16"}};
  config["num_key_value_heads"] = file.Get<int64_t>(key("attention.head_count_kv"),
                                                    config["num_attention_heads"].get<int64_t>());
  config["head_dim"] = file.Get<int64_t>(
      key("attention.key_length"),
      whole("embedding_length") / std::max<int64_t>(1, whole("attention.head_count")));
  config["rope_theta"] =
      file.Has(key("rope.freq_base")) ? file.Number(key("rope.freq_base")) : 10000.0;
  if (const auto found = file.tensors().find(kRopeDivisors); found != file.tensors().end()) {
    const Weight& weight = found->second;
    if (weight.type != WeightType::kF32) file.Refuse(kRopeDivisors, "is not of type F32");
    std::vector<float> divisors(weight.data.size() / sizeof(float));
    std::memcpy(divisors.data(), weight.data.data(), divisors.size() * sizeof(float));
    config["rope_parameters"] = {{"rope_type", kDividedRope}, {"divisors", divisors}};
  }
  for (const auto& [name, field] : {std::pair("tokenizer.ggml.bos_token_id", "bos_token_id"),
                                    std::pair("tokenizer.ggml.eos_token_id", "eos_token_id")}) {
    if (file.Has(name)) config[field] = file.Get<int64_t>(name);
  }
  if (file.Has("tokenizer.ggml.eot_token_id") && config.contains("eos_token_id")) {
    config["eos_token_id"] = {config["eos_token_id"],
                              file.Get<int64_t>("tokenizer.ggml.eot_token_id")};
  }
  return config;
}

GgufWeights::GgufWeights(std::shared_ptr<const GgufFile> file)
    : file_(std::move(file)), name_(file_->path().string()) {
  const GgufArchitecture& architecture = ArchitectureOf(*file_);
  const nlohmann::json config = GgufConfig(*file_);
  for (const auto& [name, tensor] : file_->tensors()) {
    if (name == kRopeDivisors) continue;
    const std::string theirs = NameInFolder(name);
    if (theirs.empty()) file_->Refuse(name, "has no place in a model of this architecture");
    Weight weight = tensor;
    if (architecture.halves && (theirs.find("q_proj") != std::string::npos ||
                                theirs.find("k_proj") != std::string::npos)) {
      const bool queries = theirs.find("q_proj") != std::string::npos;
      PutInHalves(weight,
                  config[queries ? "num_attention_heads" : "num_key_value_heads"].get<int64_t>());
    }
    weights_.emplace(theirs, weight);
  }
}

// Row h d + i + j d / 2 of the result is row h d + 2 i + j, for heads of d rows.
void GgufWeights::PutInHalves(Weight& weight, int64_t heads) {
  const int64_t rows = weight.shape.empty() ? 0 : weight.shape[0];
  // A wrong shape is told later.
  if (rows < 1 || heads < 1 || heads > rows || rows % (2 * heads) != 0) return;
  const int64_t half = rows / heads / 2, bytes = static_cast<int64_t>(weight.data.size()) / rows;
  std::vector<std::byte>& copy = copies_.emplace_back(weight.data.size());
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t head = row / (2 * half), i = row % half, j = row / half % 2;
    std::memcpy(copy.data() + row * bytes,
                weight.data.data() + (head * 2 * half + 2 * i + j) * bytes, bytes);
  }
  weight.data = copy;
  weight.mapped = false;
}

}  // namespace agentr
