// A model folder as a user would have it, with random weights: a Llama of one layer over the
// tokenizer of the goldens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/random.h"
#include "lm/safetensors.h"

namespace agentr {

inline void WriteTinyModel(const std::filesystem::path& folder) {
  constexpr int64_t kVocabulary = 706, kWidth = 32, kFeedForward = 48;
  std::filesystem::create_directories(folder);
  const auto golden = nlohmann::json::parse(
      ReadFile(std::string(AGENTR_SOURCE_DIR) + "/tests/golden/tokenizers/llama3.json"));
  WriteFileAtomically(folder / "tokenizer.json", golden["tokenizer"].dump());
  WriteFileAtomically(folder / "tokenizer_config.json", golden["tokenizer_config"].dump());
  const nlohmann::json config = {{"architectures", {"LlamaForCausalLM"}},
                                 {"model_type", "llama"},
                                 {"vocab_size", kVocabulary},
                                 {"hidden_size", kWidth},
                                 {"intermediate_size", kFeedForward},
                                 {"num_hidden_layers", 1},
                                 {"num_attention_heads", 4},
                                 {"num_key_value_heads", 2},
                                 {"head_dim", 8},
                                 {"hidden_act", "silu"},
                                 {"max_position_embeddings", 4096},
                                 {"rms_norm_eps", 1e-6},
                                 {"rope_theta", 10000.0},
                                 {"tie_word_embeddings", true},
                                 {"torch_dtype", "float32"},
                                 {"bos_token_id", 700},
                                 {"eos_token_id", 705}};
  WriteFileAtomically(folder / "config.json", config.dump());

  const std::string layer = "model.layers.0.";
  const std::map<std::string, std::vector<int64_t>> shapes = {
      {"model.embed_tokens.weight", {kVocabulary, kWidth}},
      {"model.norm.weight", {kWidth}},
      {layer + "input_layernorm.weight", {kWidth}},
      {layer + "post_attention_layernorm.weight", {kWidth}},
      {layer + "self_attn.q_proj.weight", {kWidth, kWidth}},
      {layer + "self_attn.k_proj.weight", {kWidth / 2, kWidth}},
      {layer + "self_attn.v_proj.weight", {kWidth / 2, kWidth}},
      {layer + "self_attn.o_proj.weight", {kWidth, kWidth}},
      {layer + "mlp.gate_proj.weight", {kFeedForward, kWidth}},
      {layer + "mlp.up_proj.weight", {kFeedForward, kWidth}},
      {layer + "mlp.down_proj.weight", {kWidth, kFeedForward}}};
  RandomStream random(1);
  std::map<std::string, std::vector<float>> values;
  std::map<std::string, Weight> weights;
  for (const auto& [name, shape] : shapes) {
    int64_t size = 1;
    for (const int64_t length : shape) size *= length;
    std::vector<float>& data = values[name];
    for (int64_t i = 0; i < size; ++i) data.push_back(static_cast<float>(random.Uniform()) - 0.5F);
    weights[name] = {WeightType::kF32, shape, std::as_bytes(std::span(data))};
  }
  WriteWeights(folder, weights);
}

}  // namespace agentr
