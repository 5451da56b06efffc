// The shape of a decoder-only transformer, from config.json and generation_config.json of a Hugging
// Face folder, or from a GGUF file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/weights/model_family.h"
#include "lm/weights/safetensors.h"

namespace agentr {

// Rotary frequencies of Llama 3.1 and later ("rope_type": "llama3").
struct Llama3Rope {
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  double original_max_position_embeddings = 8192;
};

// The types of numbers as config.json names them.
inline constexpr std::array<NamedValue<WeightType>, 3> kTorchTypes = {
    {{"float32", WeightType::kF32},
     {"float16", WeightType::kF16},
     {"bfloat16", WeightType::kBF16}}};

struct ModelConfig {
  std::string family;  // ModelFamily::name
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_layers = 0;
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;
  int64_t head_dim = 0;
  int64_t max_context = 0;     // max_position_embeddings
  int64_t sliding_window = 0;  // positions that a token sees, including its own; 0: all
  double norm_epsilon = 1e-6;
  double rope_theta = 10000;
  std::optional<Llama3Rope> llama3_rope;
  // Of the frequencies, or none: linear scaling, YaRN (Peng et al. 2023), LongRoPE (Ding et al.
  // 2024), and GGUF files of Llama 3.1 and later.
  std::vector<double> rope_divisors;
  std::vector<double> long_rope_divisors;  // LongRoPE: instead, for contexts above rope_context
  double rope_growth =
      0;  // dynamic NTK scaling: its factor, for contexts above rope_context; 0: none
  int64_t rope_context = 0;  // positions of the training, for these two
  double rope_attention =
      1;                  // factor of rotated queries and keys (YaRN, LongRoPE), unless a window's
  bool qkv_bias = false;  // Qwen2; Llama and Qwen3 with attention_bias
  bool output_bias = false;  // of the attention output: Llama and Qwen3 with attention_bias
  bool mlp_bias = false;
  bool qk_norm = false;                    // Qwen3: RMSNorm of each head's queries and keys
  bool qk_norm_of_all = false;             // and the norm is one over all heads (OLMo 2)
  NormPlaces norms = NormPlaces::kBefore;  // ModelFamily, like the three that follow
  bool norm_plus_one = false;
  bool gelu = false;
  bool fused = false;
  // A layer's MLP is one of several experts, of intermediate_size each (0: there is one MLP for all
  // tokens). Each token has the `token_experts` whose router logits are highest, with the softmax
  // of all logits as weights, which are divided by their sum if `normal_experts`.
  int64_t experts = 0, token_experts = 0;
  bool normal_experts = false;
  // Factors (Granite, and Gemma of embeddings and scores); those of scores are beside 1 /
  // sqrt(head_dim).
  double embedding_scale = 1, residual_scale = 1, score_scale = 1, logit_scale = 1;
  // By layer; empty: all alike. Whether the layer sees only `sliding_window` positions, and whether
  // it has rotary positions.
  std::vector<bool> window_layers, rotary_layers;
  double window_rope_theta = 0;               // of layers with a window, unscaled; 0: as the others
  bool tied_embeddings = false;               // the output projection is the embedding
  WeightType weight_type = WeightType::kF32;  // torch_dtype or dtype

  // From generation_config.json if it exists, else config.json.
  std::vector<int32_t> eos_tokens;
  std::optional<int32_t> bos_token;

  // The positions that a token sees in a layer; 0: all.
  int64_t WindowOf(size_t layer) const {
    return window_layers.empty() || window_layers[layer] ? sliding_window : 0;
  }
  bool HasRotary(size_t layer) const { return rotary_layers.empty() || rotary_layers[layer]; }
  // The most positions that a context can be given, which may be more than max_context.
  int64_t LongestContext() const;
  // Whether the layer's frequencies are those of window_rope_theta.
  bool HasWindowRope(size_t layer) const { return window_rope_theta > 0 && WindowOf(layer) > 0; }
};

// Throws FatalError(kFile) naming the file and the field that is missing, of the wrong type or not
// supported (another architecture, activation or rope scaling), and the supported values.
ModelConfig ReadModelConfig(const std::filesystem::path& folder);

// The weights of the folder or GGUF file; immutable. Throws what WeightFiles and GgufWeights throw.
std::shared_ptr<const WeightSource> OpenWeights(const std::filesystem::path& folder);

}  // namespace agentr
