#include "lm/weights/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "common/error.h"
#include "common/text.h"
#include "lm/weights/model_family.h"
#include "lm/weights/quantised.h"

namespace agentr {
namespace {

const ModelFamily& ArchitectureOf(const GgufFile& file) {
  const auto name = file.Get<std::string_view>("general.architecture");
  std::vector<std::string_view> names;
  for (const ModelFamily& known : kModelFamilies) {
    if (known.gguf.empty()) continue;
    if (known.gguf == name) return known;
    names.push_back(known.gguf);
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
     {"attn_qkv", "self_attn.qkv_proj"},
     {"attn_q", "self_attn.q_proj"},
     {"attn_k", "self_attn.k_proj"},
     {"attn_v", "self_attn.v_proj"},
     {"attn_output", "self_attn.o_proj"},
     {"attn_q_norm", "self_attn.q_norm"},
     {"attn_k_norm", "self_attn.k_norm"},
     {"ffn_gate", "mlp.gate_proj"},
     {"ffn_up", "mlp.up_proj"},
     {"ffn_down", "mlp.down_proj"}}};

// The name of a layer's part in a Hugging Face folder; empty for one without a place there.
std::string_view PartInFolder(std::string_view part, const ModelFamily& family) {
  const NormNames norms = NamesOf(family.norms);
  if (part == "ffn_norm") return norms.before_mlp;
  if (part == "post_attention_norm") return norms.behind_attention;
  if (part == "post_ffw_norm") return norms.behind_mlp;
  if (family.fused && part == "ffn_up") return "mlp.gate_up_proj";
  for (const auto& [ours, theirs] : kLayerNames) {
    if (part == ours) return theirs;
  }
  return "";
}

// The name in a Hugging Face folder; empty for one without a place there.
std::string NameInFolder(std::string_view name, const ModelFamily& family) {
  for (const auto& [ours, theirs] : kModelNames) {
    if (name == ours) return std::string(theirs);
  }
  if (!name.starts_with("blk.")) return "";
  const size_t layer_end = name.find('.', 4), part_end = name.rfind('.');
  if (layer_end == std::string_view::npos || part_end <= layer_end) return "";
  const std::string_view part = name.substr(layer_end + 1, part_end - layer_end - 1);
  const std::string_view theirs = PartInFolder(part, family);
  if (theirs.empty()) return "";
  return fmt::format("model.layers.{}.{}{}", name.substr(4, layer_end - 4), theirs,
                     name.substr(part_end));
}

// Llama 3's scaling and LongRoPE come as divisors of the frequencies.
const std::string kRopeDivisors = "rope_freqs.weight";
const std::string kShortDivisors = "rope_factors_short.weight";
const std::string kLongDivisors = "rope_factors_long.weight";

bool IsRopeDivisors(const std::string& name) {
  return name == kRopeDivisors || name == kShortDivisors || name == kLongDivisors;
}

std::vector<float> DivisorsIn(const GgufFile& file, const std::string& name) {
  const auto found = file.tensors().find(name);
  if (found == file.tensors().end()) file.Refuse(name, "is missing");
  const Weight& weight = found->second;
  if (weight.type != WeightType::kF32) file.Refuse(name, "is not of type F32");
  return ReadWeight(weight);
}

// The scaling of the rotary frequencies, as config.json would have it.
void AddRopeScaling(const GgufFile& file, const auto& key, nlohmann::json& config) {
  const auto scaling = [&](std::string_view name) {
    return key(fmt::format("rope.scaling.{}", name));
  };
  const auto type = file.Get<std::string_view>(scaling("type"), "none");
  const auto original = [&] {
    return file.Get<int64_t>(scaling("original_context_length"),
                             config["max_position_embeddings"].get<int64_t>());
  };
  const double attention =
      file.Has(scaling("attn_factor")) ? file.Number(scaling("attn_factor")) : 1.0;
  if (file.tensors().contains(kRopeDivisors)) {
    config["rope_parameters"] = {{"rope_type", kDividedRope},
                                 {"divisors", DivisorsIn(file, kRopeDivisors)}};
  } else if (file.tensors().contains(kLongDivisors)) {
    config["rope_scaling"] = {{"rope_type", "longrope"},
                              {"short_factor", DivisorsIn(file, kShortDivisors)},
                              {"long_factor", DivisorsIn(file, kLongDivisors)},
                              {"original_max_position_embeddings", original()},
                              {"attention_factor", attention}};
  } else if (type == "linear") {
    config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", file.Number(scaling("factor"))}};
  } else if (type == "yarn") {
    const double factor = file.Number(scaling("factor"));
    if (file.Has(scaling("yarn_ext_factor")) && file.Number(scaling("yarn_ext_factor")) != 1) {
      file.Refuse(scaling("yarn_ext_factor"), "is not 1");
    }
    nlohmann::json rope = {{"rope_type", "yarn"},
                           {"factor", factor},
                           {"original_max_position_embeddings", original()}};
    for (const char* name : {"beta_fast", "beta_slow"}) {
      const std::string field = scaling(fmt::format("yarn_{}", name));
      if (file.Has(field)) rope[name] = file.Number(field);
    }
    const std::string given = scaling("yarn_attn_factor");
    if (file.Has(given)) {
      rope["attention_factor"] = file.Number(given);
    } else if (attention != 1) {
      rope["attention_factor"] = attention * (factor <= 1 ? 1 : 0.1 * std::log(factor) + 1);
    }
    config["rope_scaling"] = rope;
  } else if (type != "none") {
    file.Refuse(scaling("type"),
                fmt::format("is '{}'; none, linear, yarn and longrope are supported", type));
  }
}

// Granite's factors.
void AddFactors(const GgufFile& file, const auto& key, nlohmann::json& config) {
  for (const auto& [name, field] : {std::pair("attention.scale", "attention_multiplier"),
                                    std::pair("embedding_scale", "embedding_multiplier"),
                                    std::pair("residual_scale", "residual_multiplier"),
                                    std::pair("logit_scale", "logits_scaling")}) {
    if (file.Has(key(name))) config[field] = file.Number(key(name));
  }
}

// Where Phi-3 has a window, and whether all of a head is turned.
void AddPhi(const GgufFile& file, const auto& key, nlohmann::json& config) {
  const auto window = file.Get<int64_t>(key("attention.sliding_window"), int64_t{0});
  if (window > 0) config["sliding_window"] = window;
  const auto head = config["head_dim"].get<int64_t>();
  const auto turned = file.Get<int64_t>(key("rope.dimension_count"), head);
  if (turned != head) {
    config["partial_rotary_factor"] = static_cast<double>(turned) / static_cast<double>(head);
  }
}

// What Gemma 3 has beside the values of all.
void AddGemma(const GgufFile& file, const auto& key, nlohmann::json& config) {
  config["sliding_window"] = file.Get<int64_t>(key("attention.sliding_window"));
  config["rope_local_base_freq"] =
      file.Has(key("rope.freq_base_swa")) ? file.Number(key("rope.freq_base_swa")) : 10000.0;
  if (!file.Has(key("rope.freq_base"))) config["rope_theta"] = 1e6;
  config["sliding_window_pattern"] =
      file.Get<int64_t>(key("attention.sliding_window_pattern"), int64_t{6});
  config["hidden_activation"] = "gelu_pytorch_tanh";
  // The model of 27 billion parameters, known by its 62 layers, has another scale of the scores.
  config["query_pre_attn_scalar"] =
      config["num_hidden_layers"] == 62
          ? config["hidden_size"].get<int64_t>() / config["num_attention_heads"].get<int64_t>()
          : config["head_dim"].get<int64_t>();
}

// As config.json would name it: bfloat16 also beside quantised matrices.
std::string TypeOfMatrices(const GgufFile& file) {
  std::set<WeightType> types;
  for (const auto& [name, weight] : file.tensors()) {
    if (weight.shape.size() > 1) types.insert(weight.type);
  }
  if (std::ranges::any_of(types, IsQuantised)) return "bfloat16";
  if (types.contains(WeightType::kF32)) return "float32";
  return types.contains(WeightType::kF16) ? "float16" : "bfloat16";
}

}  // namespace

std::string GgufTensorName(const std::string& name, const ModelFamily& family) {
  for (const auto& [file, folder] : kModelNames) {
    if (name == folder) return std::string(file);
  }
  constexpr std::string_view kPrefix = "model.layers.";
  const size_t layer_end = name.find('.', kPrefix.size()), part_end = name.rfind('.');
  if (name.starts_with(kPrefix) && layer_end != std::string::npos && part_end > layer_end) {
    const std::string part = name.substr(layer_end + 1, part_end - layer_end - 1);
    std::vector<std::string_view> files = {"ffn_norm", "post_attention_norm", "post_ffw_norm"};
    for (const auto& [file, folder] : kLayerNames) files.push_back(file);
    for (const std::string_view file : files) {
      if (PartInFolder(file, family) != part) continue;
      return fmt::format("blk.{}.{}{}", name.substr(kPrefix.size(), layer_end - kPrefix.size()),
                         file, name.substr(part_end));
    }
  }
  throw FatalError(ExitCode::kFile, fmt::format("the weight {} has no name in a GGUF file", name));
}

nlohmann::json GgufConfig(const GgufFile& file) {
  const ModelFamily& family = ArchitectureOf(file);
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", family.gguf, name); };
  const auto whole = [&](std::string_view name) { return file.Get<int64_t>(key(name)); };
  const int64_t vocabulary =
      file.Has("tokenizer.ggml.tokens")
          ? std::ssize(file.Get<std::vector<std::string_view>>("tokenizer.ggml.tokens"))
          : whole("vocab_size");
  nlohmann::json config = {{"model_type", family.name},
                           {"vocab_size", vocabulary},
                           {"hidden_size", whole("embedding_length")},
                           {"intermediate_size", whole("feed_forward_length")},
                           {"num_hidden_layers", whole("block_count")},
                           {"num_attention_heads", whole("attention.head_count")},
                           {"max_position_embeddings", whole("context_length")},
                           {"rms_norm_eps", file.Number(key("attention.layer_norm_rms_epsilon"))},
                           {"tie_word_embeddings", !file.tensors().contains("output.weight")},
                           {"dtype", TypeOfMatrices(file)}};
  config["num_key_value_heads"] = file.Get<int64_t>(key("attention.head_count_kv"),
                                                    config["num_attention_heads"].get<int64_t>());
  config["head_dim"] = file.Get<int64_t>(
      key("attention.key_length"),
      whole("embedding_length") / std::max<int64_t>(1, whole("attention.head_count")));
  config["rope_theta"] =
      file.Has(key("rope.freq_base")) ? file.Number(key("rope.freq_base")) : 10000.0;
  if (family.name == "gemma3_text") AddGemma(file, key, config);
  if (family.name == "granite") AddFactors(file, key, config);
  if (family.name == "phi3") AddPhi(file, key, config);
  AddRopeScaling(file, key, config);
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
  const ModelFamily& family = ArchitectureOf(*file_);
  const nlohmann::json config = GgufConfig(*file_);
  for (const auto& [name, tensor] : file_->tensors()) {
    if (IsRopeDivisors(name)) continue;
    const std::string theirs = NameInFolder(name, family);
    if (theirs.empty()) file_->Refuse(name, "has no place in a model of this architecture");
    Weight weight = tensor;
    if (family.norm_plus_one && theirs.ends_with("norm.weight")) SubtractOne(weight);
    const bool queries = theirs.find("q_proj") != std::string::npos;
    if (family.pairs && (queries || theirs.find("k_proj") != std::string::npos)) {
      PutInHalves(weight,
                  config[queries ? "num_attention_heads" : "num_key_value_heads"].get<int64_t>());
    }
    weights_.emplace(theirs, weight);
  }
}

void GgufWeights::SubtractOne(Weight& weight) {
  if (weight.type != WeightType::kF32) file_->Refuse("a norm", "is not of type F32");
  std::vector<float> values = ReadWeight(weight);
  for (float& value : values) value -= 1;
  weight.data = copies_.emplace_back(StoredAs(WeightType::kF32, values));
  weight.mapped = false;
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
