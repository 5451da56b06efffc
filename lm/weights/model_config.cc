#include "lm/weights/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "common/file.h"
#include "lm/weights/config_fields.h"
#include "lm/weights/gguf_model.h"
#include "lm/weights/half.h"
#include "lm/weights/safetensors_header.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

ConfigFields ReadFields(const fs::path& path) {
  return ConfigFields(path, ParseStrictObject(ReadFile(path), path));
}

void ReadFamily(const ConfigFields& fields, ModelConfig& config) {
  const auto name = fields.Get<std::string>("model_type");
  const auto* family = std::ranges::find(kModelFamilies, name, &ModelFamily::name);
  if (family == kModelFamilies.end()) {
    std::vector<std::string_view> names;
    for (const ModelFamily& known : kModelFamilies) names.push_back(known.name);
    fields.Refuse("model_type",
                  fmt::format("is '{}'; {} are supported", name, fmt::join(names, ", ")));
  }
  const nlohmann::json& architectures = fields.Raw("architectures");
  if (!architectures.is_null() && architectures != nlohmann::json{family->architecture}) {
    fields.Refuse("architectures", fmt::format("is {}; [\"{}\"] is supported", architectures.dump(),
                                               family->architecture));
  }
  const std::string_view act = family->gelu ? "gelu_pytorch_tanh" : "silu";
  const char* const act_field = family->gelu ? "hidden_activation" : "hidden_act";
  if (const auto given = fields.Get<std::string>(act_field, std::string(act)); given != act) {
    fields.Refuse(act_field, fmt::format("is '{}'; {} is supported", given, act));
  }
  if (fields.Has("quantization_config")) {
    fields.Refuse("quantization_config", "is there; choose the model in F32, F16 or BF16");
  }
  config.family = name;
  config.qk_norm = family->query_key_norm != QueryKeyNorm::kNone;
  config.qk_norm_of_all = family->query_key_norm == QueryKeyNorm::kAllHeads;
  config.norms = family->norms;
  config.norm_plus_one = family->norm_plus_one;
  config.gelu = family->gelu;
  config.fused = family->fused;
  config.tied_embeddings = fields.Get<bool>("tie_word_embeddings", family->tied);
}

void ReadSizes(const ConfigFields& fields, ModelConfig& config) {
  config.vocab_size = fields.Size("vocab_size");
  config.hidden_size = fields.Size("hidden_size");
  config.intermediate_size = fields.Size("intermediate_size");
  config.num_layers = fields.Size("num_hidden_layers");
  config.num_heads = fields.Size("num_attention_heads");
  config.max_context = fields.Size("max_position_embeddings");
  // Llama 1 had no groups. The defaults of the other families belong to one model, and their files
  // always contain the value.
  const bool no_groups = (config.family == "llama" || config.family == "olmo2" ||
                          config.family == "phi3" || config.family == "granite") &&
                         !fields.Has("num_key_value_heads");
  config.num_kv_heads = no_groups ? config.num_heads : fields.Size("num_key_value_heads");
  if (config.num_heads % config.num_kv_heads != 0) {
    fields.Refuse("num_key_value_heads", fmt::format("is {}, no divisor of num_attention_heads {}",
                                                     config.num_kv_heads, config.num_heads));
  }
  if (fields.Has("head_dim") || config.family == "qwen3" || config.family == "gemma3_text") {
    config.head_dim = fields.Size("head_dim");
  } else {
    if (config.hidden_size % config.num_heads != 0) {
      fields.Refuse("num_attention_heads", fmt::format("is {}, no divisor of hidden_size {}",
                                                       config.num_heads, config.hidden_size));
    }
    config.head_dim = config.hidden_size / config.num_heads;
  }
  if (config.head_dim % 2 != 0) {
    fields.Refuse("head_dim",
                  fmt::format("is {}; rotary positions need an even one", config.head_dim));
  }
}

// By what the frequencies are smaller: positive numbers, one for each pair of a head's values.
std::vector<double> ReadDivisors(const ConfigFields& rope, const std::string& name,
                                 const ModelConfig& config) {
  const auto divisors = rope.Get<std::vector<double>>(name);
  const auto fits = [](double divisor) { return std::isfinite(divisor) && divisor > 0; };
  if (std::ssize(divisors) != config.head_dim / 2 || !std::ranges::all_of(divisors, fits)) {
    rope.Refuse(name, fmt::format("are not {} positive numbers, half the width of a head",
                                  config.head_dim / 2));
  }
  return divisors;
}

// The context of the training, which older files have outside of the scaling.
int64_t OriginalContext(const ConfigFields& fields, const ConfigFields& rope) {
  const char* const name = "original_max_position_embeddings";
  if (rope.Has(name)) return rope.Size(name);
  return fields.Has(name) ? fields.Size(name) : fields.Size("max_position_embeddings");
}

// By how much the context is longer than that of the training.
double ContextFactor(const ConfigFields& rope, const ModelConfig& config, int64_t original) {
  return rope.Positive("factor",
                       static_cast<double>(config.max_context) / static_cast<double>(original));
}

// Pairs that turn often in the original context keep their frequency, those that turn less than
// once are divided by the factor, and those in between by a mixture (Peng et al. 2023, section
// 3.2).
void ReadYarn(const ConfigFields& fields, const ConfigFields& rope, ModelConfig& config) {
  const int64_t original = OriginalContext(fields, rope);
  const double factor = ContextFactor(rope, config, original);
  const auto pairs = static_cast<double>(config.head_dim / 2);
  // The pair, as a number with a fraction, that makes so many turns in the original context.
  const auto pair_of = [&](double turns) {
    return pairs * std::log(static_cast<double>(original) / (turns * 2 * std::numbers::pi)) /
           std::log(config.rope_theta);
  };
  const auto turns = [&](const char* name, double otherwise) {
    const auto value = rope.Get<double>(name, 0);
    return value == 0 ? otherwise : rope.Positive(name);
  };
  double first = pair_of(turns("beta_fast", 32)), last = pair_of(turns("beta_slow", 1));
  if (rope.Get<bool>("truncate", true)) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(config.head_dim - 1));
  if (first == last) last += 0.001;
  for (int64_t i = 0; i < config.head_dim / 2; ++i) {
    const double divided = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    config.rope_divisors.push_back(1 / (divided / factor + 1 - divided));
  }
  const auto attention = [&](double scale) {
    return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1;
  };
  const auto scale = rope.Get<double>("mscale", 0), of_all = rope.Get<double>("mscale_all_dim", 0);
  config.rope_attention = rope.Has("attention_factor") ? rope.Positive("attention_factor")
                          : scale != 0 && of_all != 0  ? attention(scale) / attention(of_all)
                                                       : attention(1);
  const double longest = factor * static_cast<double>(original);
  if (longest > INT32_MAX) rope.Refuse("factor", "makes the context too long");
  config.max_context = std::max(config.max_context, static_cast<int64_t>(longest));
}

void ReadLongRope(const ConfigFields& fields, const ConfigFields& rope, ModelConfig& config) {
  config.rope_divisors = ReadDivisors(rope, "short_factor", config);
  config.long_rope_divisors = ReadDivisors(rope, "long_factor", config);
  config.rope_context = OriginalContext(fields, rope);
  const double factor = ContextFactor(rope, config, config.rope_context);
  if (config.rope_context < 2) rope.Refuse("original_max_position_embeddings", "is below 2");
  const double logs = factor <= 1 ? 0 : std::log(factor) / std::log(config.rope_context);
  config.rope_attention = rope.Positive("attention_factor", std::sqrt(1 + logs));
}

void ReadLlama3Rope(const ConfigFields& rope, ModelConfig& config) {
  config.llama3_rope = {
      .factor = rope.Positive("factor"),
      .low_freq_factor = rope.Positive("low_freq_factor"),
      .high_freq_factor = rope.Positive("high_freq_factor"),
      .original_max_position_embeddings = rope.Positive("original_max_position_embeddings")};
  if (config.llama3_rope->high_freq_factor <= config.llama3_rope->low_freq_factor) {
    rope.Refuse("high_freq_factor", "is not above low_freq_factor");
  }
}

void ReadDynamicRope(const ConfigFields& rope, ModelConfig& config) {
  config.rope_growth = rope.Positive("factor");
  if (config.rope_growth < 1) rope.Refuse("factor", "is below 1");
  if (config.head_dim < 4) rope.Refuse("factor", "needs heads of more than one pair");
  config.rope_context = config.max_context;
  if (config.rope_growth * static_cast<double>(config.max_context) > INT32_MAX) {
    rope.Refuse("factor", "makes the context too long");
  }
}

// Transformers before version 5 wrote rope_theta beside rope_scaling; later versions write both
// inside rope_parameters.
void ReadRope(const ConfigFields& fields, ModelConfig& config) {
  config.rope_theta = fields.Positive("rope_theta", config.rope_theta);
  if (fields.Get<double>("partial_rotary_factor", 1) != 1) {
    fields.Refuse("partial_rotary_factor", "is not 1");
  }
  const std::string name = fields.Has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  if (!fields.Has(name)) return;
  ConfigFields rope = fields.Object(name);
  if (rope.Has("full_attention")) {  // one for each kind of layer
    if (config.window_rope_theta > 0 && rope.Has("sliding_attention")) {
      const ConfigFields window = rope.Object("sliding_attention");
      config.window_rope_theta = window.Positive("rope_theta");
      if (window.Get<std::string>("rope_type", "default") != "default") {
        window.Refuse("rope_type", "is not default");
      }
    }
    rope = rope.Object("full_attention");
  }
  config.rope_theta = rope.Positive("rope_theta", config.rope_theta);
  if (rope.Get<double>("partial_rotary_factor", 1) != 1) {
    rope.Refuse("partial_rotary_factor", "is not 1");
  }
  const std::string type_name = rope.Has("rope_type") ? "rope_type" : "type";
  const auto type = rope.Get<std::string>(type_name);
  if (type == "default") return;
  if (type == kDividedRope) {
    config.rope_divisors = ReadDivisors(rope, "divisors", config);
  } else if (type == "linear") {
    config.rope_divisors.assign(config.head_dim / 2, rope.Positive("factor"));
  } else if (type == "dynamic") {
    ReadDynamicRope(rope, config);
  } else if (type == "yarn") {
    ReadYarn(fields, rope, config);
  } else if (type == "longrope" || type == "su") {  // the latter in older files of Phi-3
    ReadLongRope(fields, rope, config);
  } else if (type == "llama3") {
    ReadLlama3Rope(rope, config);
  } else {
    rope.Refuse(type_name,
                fmt::format("is '{}'; default, linear, dynamic, yarn, longrope and llama3 are "
                            "supported",
                            type));
  }
}

// Whether each layer sees only a window: as layer_types lists them.
std::vector<bool> ListedWindows(const ConfigFields& fields, int64_t layers) {
  const nlohmann::json& types = fields.Raw("layer_types");
  const bool all_named = types.is_array() && static_cast<int64_t>(types.size()) == layers &&
                         std::ranges::all_of(types, [](const nlohmann::json& type) {
                           return type == "full_attention" || type == "sliding_attention";
                         });
  if (!all_named) {
    fields.Refuse("layer_types", "does not name each layer full_attention or sliding_attention");
  }
  std::vector<bool> windows;
  for (const nlohmann::json& type : types) windows.push_back(type == "sliding_attention");
  return windows;
}

// Which layers of Gemma 3 see only a window: those that layer_types names, or all but every sixth.
void ReadGemmaLayers(const ConfigFields& fields, ModelConfig& config) {
  config.sliding_window = fields.Size("sliding_window");
  const auto pattern = fields.Get<int64_t>("sliding_window_pattern",
                                           fields.Get<int64_t>("_sliding_window_pattern", 6));
  if (pattern < 1) fields.Refuse("sliding_window_pattern", "is not above 0");
  if (fields.Has("layer_types")) {
    config.window_layers = ListedWindows(fields, config.num_layers);
    return;
  }
  for (int64_t i = 0; i < config.num_layers; ++i) {
    config.window_layers.push_back((i + 1) % pattern != 0);
  }
}

void ReadGemma(const ConfigFields& fields, bool gguf, ModelConfig& config) {
  for (const char* name : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (fields.Has(name)) fields.Refuse(name, "is not null");
  }
  if (fields.Get<bool>("use_bidirectional_attention", false)) {
    fields.Refuse("use_bidirectional_attention", "is true");
  }
  const double root = std::sqrt(static_cast<double>(config.hidden_size));
  // transformers rounds it to the type of the weights, and llama.cpp does not.
  const bool rounded = !gguf && config.weight_type == WeightType::kBF16;
  config.embedding_scale = rounded ? FromBf16(ToBf16(static_cast<float>(root))) : root;
  const auto width = static_cast<double>(config.head_dim);
  config.score_scale = std::sqrt(width / fields.Positive("query_pre_attn_scalar", width));
  ReadGemmaLayers(fields, config);
}

// Which layers of SmolLM3 have rotary positions: no_rope_layers has a 1 for those that do.
void ReadRotaryLayers(const ConfigFields& fields, ModelConfig& config) {
  if (fields.Get<bool>("use_sliding_window", false)) {
    fields.Refuse("use_sliding_window", "is true");
  }
  const nlohmann::json& layers = fields.Raw("no_rope_layers");
  const auto interval = fields.Get<int64_t>("no_rope_layer_interval", 4);
  if (interval < 1) fields.Refuse("no_rope_layer_interval", "is not above 0");
  if (!layers.is_null() && (!layers.is_array() || std::ssize(layers) != config.num_layers)) {
    fields.Refuse("no_rope_layers", "is no list with a number for each layer");
  }
  for (int64_t i = 0; i < config.num_layers; ++i) {
    config.rotary_layers.push_back(layers.is_null() ? (i + 1) % interval != 0 : layers[i] == 1);
  }
}

void ReadFactors(const ConfigFields& fields, bool gguf, ModelConfig& config) {
  if (config.family == "gemma3_text") ReadGemma(fields, gguf, config);
  if (config.family == "smollm3") ReadRotaryLayers(fields, config);
  if (config.family != "granite") return;
  config.embedding_scale = fields.Positive("embedding_multiplier", 1);
  config.residual_scale = fields.Positive("residual_multiplier", 1);
  config.score_scale =
      fields.Positive("attention_multiplier", 1) * std::sqrt(static_cast<double>(config.head_dim));
  config.logit_scale = 1 / fields.Positive("logits_scaling", 1);
}

void ReadExperts(const ConfigFields& fields, ModelConfig& config) {
  const bool qwen = config.family == "qwen3_moe";
  config.experts =
      fields.Size(qwen && fields.Has("num_experts") ? "num_experts" : "num_local_experts");
  config.token_experts = fields.Size("num_experts_per_tok");
  if (config.token_experts > config.experts) {
    fields.Refuse("num_experts_per_tok", "is above the number of experts");
  }
  config.normal_experts = !qwen || fields.Get<bool>("norm_topk_prob", false);
  if (!qwen) return;
  config.intermediate_size = fields.Size("moe_intermediate_size");
  const nlohmann::json& plain = fields.Raw("mlp_only_layers");
  if (!plain.is_null() && !plain.empty()) fields.Refuse("mlp_only_layers", "is not empty");
  if (fields.Get<int64_t>("decoder_sparse_step", 1) != 1) {
    fields.Refuse("decoder_sparse_step", "is not 1");
  }
  if (fields.Get<bool>("use_sliding_window", false)) {
    fields.Refuse("use_sliding_window", "is true");
  }
}

void ReadWindow(const ConfigFields& fields, ModelConfig& config) {
  if (config.family == "phi3" || config.family == "mixtral") {
    if (fields.Has("sliding_window")) config.sliding_window = fields.Size("sliding_window");
    return;
  }
  if (config.family != "mistral" && !config.family.starts_with("qwen")) return;
  if (config.family == "mistral") {
    // If the field is missing, the window is that of the first Mistral; null means that there is
    // none.
    if (!fields.Contains("sliding_window")) config.sliding_window = 4096;
    if (fields.Has("sliding_window")) config.sliding_window = fields.Size("sliding_window");
    return;
  }
  if (!fields.Get<bool>("use_sliding_window", false) || !fields.Has("sliding_window")) return;
  // Without a list, all from max_window_layers on.
  std::vector<bool> windows;
  if (fields.Has("layer_types")) {
    windows = ListedWindows(fields, config.num_layers);
  } else {
    const auto first = fields.Get<int64_t>("max_window_layers");
    for (int64_t i = 0; i < config.num_layers; ++i) windows.push_back(i >= first);
  }
  const int64_t with_window = std::ranges::count(windows, true);
  if (with_window == 0) return;
  config.sliding_window = fields.Size("sliding_window");
  if (with_window != config.num_layers) config.window_layers = std::move(windows);
}

void ReadBiases(const ConfigFields& fields, ModelConfig& config) {
  // Qwen2 always has them and Mistral never; a file that says otherwise describes another network.
  const bool attention = fields.Get<bool>("attention_bias", config.family == "qwen2");
  const bool choice =
      config.family != "mistral" && config.family != "mixtral" && config.family != "qwen2";
  if (!choice && attention != (config.family == "qwen2")) {
    fields.Refuse("attention_bias", fmt::format("is {}; not of {}", attention, config.family));
  }
  config.qkv_bias = attention;
  config.output_bias = attention && choice;
  config.mlp_bias = fields.Get<bool>("mlp_bias", false);
  if (config.mlp_bias && config.family != "llama" && config.family != "smollm3" &&
      config.family != "granite") {
    fields.Refuse("mlp_bias", fmt::format("is true; not of {}", config.family));
  }
}

WeightType ReadType(const ConfigFields& fields) {
  const std::string name = fields.Has("dtype") ? "dtype" : "torch_dtype";
  const auto type = fields.Get<std::string>(name, "float32");
  if (const auto known = ValueOf(kTorchTypes, type)) return *known;
  fields.Refuse(name, fmt::format("is '{}'; float32, float16 and bfloat16 are supported", type));
}

// A token id or a list of them; empty if the field is missing.
std::vector<int32_t> ReadTokens(const ConfigFields& fields, const std::string& name,
                                int64_t vocabulary) {
  nlohmann::json ids = fields.Raw(name);
  if (ids.is_null()) return {};
  if (!ids.is_array()) ids = nlohmann::json::array({ids});
  std::vector<int32_t> tokens;
  for (const nlohmann::json& id : ids) {
    if (!IsJson<int32_t>(id) || id.get<int32_t>() < 0 || id.get<int32_t>() >= vocabulary) {
      fields.Refuse(name,
                    fmt::format("has {}, no token of a vocabulary of {}", id.dump(), vocabulary));
    }
    tokens.push_back(id.get<int32_t>());
  }
  return tokens;
}

void ReadSpecialTokens(const std::vector<ConfigFields>& files, ModelConfig& config) {
  for (const ConfigFields& fields : files) {
    if (config.eos_tokens.empty()) {
      config.eos_tokens = ReadTokens(fields, "eos_token_id", config.vocab_size);
    }
    if (config.bos_token) continue;
    const auto bos = ReadTokens(fields, "bos_token_id", config.vocab_size);
    if (bos.size() > 1) fields.Refuse("bos_token_id", "has more than one token");
    if (!bos.empty()) config.bos_token = bos[0];
  }
}

}  // namespace

int64_t ModelConfig::LongestContext() const {
  return rope_growth > 0 ? static_cast<int64_t>(rope_growth * static_cast<double>(max_context))
                         : max_context;
}

ModelConfig ReadModelConfig(const fs::path& folder) {
  const bool gguf = IsGguf(folder);
  const ConfigFields fields = gguf ? ConfigFields(folder, GgufConfig(GgufFile(folder)))
                                   : ReadFields(folder / "config.json");
  ModelConfig config;
  ReadFamily(fields, config);
  ReadSizes(fields, config);
  if (config.family == "gemma3_text") {
    config.rope_theta = 1e6;
    config.window_rope_theta = fields.Positive("rope_local_base_freq", 1e4);
  }
  if (config.family == "smollm3") config.rope_theta = 2e6;
  if (!FamilyOf(config.family).experts.module.empty()) ReadExperts(fields, config);
  ReadRope(fields, config);
  ReadWindow(fields, config);
  ReadBiases(fields, config);
  config.weight_type = ReadType(fields);
  ReadFactors(fields, gguf, config);
  config.norm_epsilon = fields.Positive("rms_norm_eps", config.norm_epsilon);
  const fs::path generation = folder / "generation_config.json";
  ReadSpecialTokens(!gguf && fs::exists(generation) ? std::vector{ReadFields(generation), fields}
                                                    : std::vector{fields},
                    config);
  return config;
}

std::shared_ptr<const WeightSource> OpenWeights(const fs::path& folder) {
  if (IsGguf(folder)) {
    return std::make_shared<GgufWeights>(std::make_shared<GgufFile>(folder));
  }
  return std::make_shared<WeightFiles>(folder);
}

}  // namespace agentr
