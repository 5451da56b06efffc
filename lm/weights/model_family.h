// The families of decoder-only transformers that are supported, as differences from Llama. The
// reader of config.json, the GGUF loader, the decoders and the trainer follow this table.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace agentr {

// Where the RMSNorms of a layer stand: before its attention and its MLP, before and behind each of
// them, or only behind. A norm behind acts on what is then added to the residual stream.
enum class NormPlaces { kBefore, kAround, kBehind };

// The module in which a layer with experts has them, and its three matrices of each.
struct ExpertNames {
  std::string_view module = "", gate = "gate_proj", up = "up_proj", down = "down_proj";
};

// RMSNorms of queries and keys: none, one for each head, or one over all heads together.
enum class QueryKeyNorm { kNone, kEachHead, kAllHeads };

struct ModelFamily {
  std::string_view name;          // model_type of config.json
  std::string_view architecture;  // the class with the output layer of a language model
  std::string_view title;         // for people
  std::string_view gguf = "";     // general.architecture of GGUF files; empty: they are not read
  bool pairs = false;             // in GGUF files heads are turned in pairs of neighbours
  bool tied = false;              // the output is the embedding unless config.json says otherwise
  NormPlaces norms = NormPlaces::kBefore;
  QueryKeyNorm query_key_norm = QueryKeyNorm::kNone;
  bool norm_plus_one = false;  // norms multiply by 1 + weight; GGUF files contain the sum
  bool gelu = false;           // the gate's activation is gelu (by tanh), not silu
  ExpertNames experts = {};    // without a module: an MLP instead
  bool fused = false;          // qkv_proj and gate_up_proj instead of three and two matrices
};

inline constexpr std::array<ModelFamily, 11> kModelFamilies = {{
    {.name = "llama",
     .architecture = "LlamaForCausalLM",
     .title = "Llama 3",
     .gguf = "llama",
     .pairs = true},
    {.name = "mistral", .architecture = "MistralForCausalLM", .title = "Mistral"},
    {.name = "qwen2", .architecture = "Qwen2ForCausalLM", .title = "Qwen2", .gguf = "qwen2"},
    {.name = "qwen3",
     .architecture = "Qwen3ForCausalLM",
     .title = "Qwen3",
     .gguf = "qwen3",
     .query_key_norm = QueryKeyNorm::kEachHead},
    {.name = "gemma3_text",
     .architecture = "Gemma3ForCausalLM",
     .title = "Gemma 3",
     .gguf = "gemma3",
     .tied = true,
     .norms = NormPlaces::kAround,
     .query_key_norm = QueryKeyNorm::kEachHead,
     .norm_plus_one = true,
     .gelu = true},
    {.name = "smollm3",
     .architecture = "SmolLM3ForCausalLM",
     .title = "SmolLM3",
     .gguf = "smollm3",
     .pairs = true,
     .tied = true},
    {.name = "phi3",
     .architecture = "Phi3ForCausalLM",
     .title = "Phi-3",
     .gguf = "phi3",
     .fused = true},
    {.name = "granite",
     .architecture = "GraniteForCausalLM",
     .title = "Granite 3",
     .gguf = "granite",
     .pairs = true},
    {.name = "olmo2",
     .architecture = "Olmo2ForCausalLM",
     .title = "OLMo 2",
     .gguf = "olmo2",
     .norms = NormPlaces::kBehind,
     .query_key_norm = QueryKeyNorm::kAllHeads},
    {.name = "qwen3_moe",
     .architecture = "Qwen3MoeForCausalLM",
     .title = "Qwen3 with experts",
     .query_key_norm = QueryKeyNorm::kEachHead,
     .experts = {.module = "mlp"}},
    {.name = "mixtral",
     .architecture = "MixtralForCausalLM",
     .title = "Mixtral",
     .experts = {"block_sparse_moe", "w1", "w3", "w2"}},
}};

// The family of a supported model_type.
constexpr const ModelFamily& FamilyOf(std::string_view model_type) {
  return *std::ranges::find(kModelFamilies, model_type, &ModelFamily::name);
}

// The names of a layer's norms in a Hugging Face folder, without "model.layers.N." and ".weight";
// empty for one that does not exist.
struct NormNames {
  std::string_view before_attention, behind_attention, before_mlp, behind_mlp;
};
constexpr NormNames NamesOf(NormPlaces places) {
  switch (places) {
    case NormPlaces::kAround:
      return {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
              "post_feedforward_layernorm"};
    case NormPlaces::kBehind:
      return {"", "post_attention_layernorm", "", "post_feedforward_layernorm"};
    default:
      return {"input_layernorm", "", "post_attention_layernorm", ""};
  }
}

}  // namespace agentr
