#include "training/model/initial_weights.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>

#include "common/random.h"
#include "training/model/induction_heads.h"
#include "training/model/random_matrix.h"

namespace agentr {
InitialWeights::InitialWeights(const ModelConfig& config, uint64_t seed, InitialAttention attention)
    : seed_(seed) {
  const auto width = static_cast<double>(config.hidden_size);
  const double embedding = 1 / std::sqrt(width);
  const double deviation = std::sqrt(2 / (5 * width));
  AddLinear("model.embed_tokens", config.vocab_size, config.hidden_size, embedding, false);
  for (int64_t i = 0; i < config.num_layers; ++i) {
    AddLayer(config, fmt::format("model.layers.{}.", i), deviation);
  }
  AddConstant("model.norm.weight", config.hidden_size, 1);
  if (!config.tied_embeddings) {
    AddLinear("lm_head", config.vocab_size, config.hidden_size, deviation, false);
  }
  if (attention == InitialAttention::kInduction) {
    SetInductionHeads(config, seed, embedding, values_);
  }
}

void InitialWeights::AddLayer(const ModelConfig& config, const std::string& at, double deviation) {
  const double residual = deviation / (2 * static_cast<double>(config.num_layers));
  const int64_t width = config.hidden_size;
  const int64_t queries = config.num_heads * config.head_dim;
  const int64_t keys = config.num_kv_heads * config.head_dim;
  AddConstant(at + "input_layernorm.weight", width, 1);
  AddLinear(at + "self_attn.q_proj", queries, width, deviation, config.qkv_bias);
  AddLinear(at + "self_attn.k_proj", keys, width, deviation, config.qkv_bias);
  AddLinear(at + "self_attn.v_proj", keys, width, deviation, config.qkv_bias);
  AddLinear(at + "self_attn.o_proj", width, queries, residual, config.output_bias);
  if (config.qk_norm) {
    AddConstant(at + "self_attn.q_norm.weight", config.head_dim, 1);
    AddConstant(at + "self_attn.k_norm.weight", config.head_dim, 1);
  }
  AddConstant(at + "post_attention_layernorm.weight", width, 1);
  AddLinear(at + "mlp.gate_proj", config.intermediate_size, width, deviation, config.mlp_bias);
  AddLinear(at + "mlp.up_proj", config.intermediate_size, width, deviation, config.mlp_bias);
  AddLinear(at + "mlp.down_proj", width, config.intermediate_size, residual, config.mlp_bias);
}

void InitialWeights::AddLinear(const std::string& name, int64_t outputs, int64_t inputs,
                               double deviation, bool bias) {
  const RandomStream random = RandomStream(seed_).Split("initial weights").Split(name);
  Add(name + ".weight", NormalValues(static_cast<size_t>(outputs * inputs), deviation, random),
      {outputs, inputs});
  if (bias) AddConstant(name + ".bias", outputs, 0);
}

void InitialWeights::AddConstant(const std::string& name, int64_t size, float value) {
  Add(name, std::vector<float>(static_cast<size_t>(size), value), {size});
}

void InitialWeights::Add(const std::string& name, std::vector<float> values,
                         std::vector<int64_t> shape) {
  const std::vector<float>& kept = values_[name] = std::move(values);
  weights_[name] = {WeightType::kF32, std::move(shape), std::as_bytes(std::span(kept))};
}

}  // namespace agentr
