#include "lm/decoder/model_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/error.h"

namespace agentr {
namespace {

using Shape = std::vector<int64_t>;

// Hands out weights by name and records which ones are used.
class Taker {
 public:
  explicit Taker(const WeightSource& source) : weights_(source.weights()), source_(source.name()) {}

  const Weight* Take(const std::string& name, const Shape& shape) {
    const auto found = weights_.find(name);
    if (found == weights_.end()) {
      throw FatalError(
          ExitCode::kFile,
          fmt::format("{}: the weight {} of shape [{}], which config.json requires, is missing. "
                      "Usual cure: use the config.json of the same model and all its shards",
                      source_, name, fmt::join(shape, ", ")));
    }
    if (found->second.shape != shape) {
      throw FatalError(
          ExitCode::kFile,
          fmt::format("{}: weight {} has the shape [{}], but config.json requires [{}]. Usual "
                      "cure: use the config.json of the same model",
                      source_, name, fmt::join(found->second.shape, ", "), fmt::join(shape, ", ")));
    }
    taken_.insert(name);
    return &found->second;
  }

  LinearWeights Linear(const std::string& name, int64_t outputs, int64_t inputs, bool bias) {
    LinearWeights linear{Take(name + ".weight", {outputs, inputs})};
    if (bias) linear.bias = Take(name + ".bias", {outputs});
    return linear;
  }

  // Uses `name`, if it exists, as a copy of `original`.
  void TakeCopy(const std::string& name, const Weight& original) {
    const auto found = weights_.find(name);
    if (found == weights_.end()) return;
    if (!std::ranges::equal(found->second.data, original.data)) {
      throw FatalError(
          ExitCode::kFile,
          fmt::format("{}: weight {} differs from the embedding, but config.json says "
                      "that they are tied. Usual cure: set \"tie_word_embeddings\" to false",
                      source_, name));
    }
    taken_.insert(name);
  }

  void ExpectAllTaken() const {
    for (const auto& [name, weight] : weights_) {
      if (taken_.contains(name) || name.ends_with(".rotary_emb.inv_freq")) continue;
      throw FatalError(ExitCode::kFile,
                       fmt::format("{}: weight {} of shape [{}] has no place in the model that "
                                   "config.json describes. Usual cure: use the config.json of the "
                                   "same model; merge adapters and quantised weights first",
                                   source_, name, fmt::join(weight.shape, ", ")));
    }
  }

 private:
  const std::map<std::string, Weight>& weights_;
  const std::string source_;
  std::set<std::string> taken_;
};

LayerWeights TakeLayer(const ModelConfig& c, Taker& taker, int64_t index) {
  const std::string prefix = fmt::format("model.layers.{}.", index);
  const int64_t queries = c.num_heads * c.head_dim;
  const int64_t keys = c.num_kv_heads * c.head_dim;
  LayerWeights layer;
  layer.attention_norm = taker.Take(prefix + "input_layernorm.weight", {c.hidden_size});
  layer.query = taker.Linear(prefix + "self_attn.q_proj", queries, c.hidden_size, c.qkv_bias);
  layer.key = taker.Linear(prefix + "self_attn.k_proj", keys, c.hidden_size, c.qkv_bias);
  layer.value = taker.Linear(prefix + "self_attn.v_proj", keys, c.hidden_size, c.qkv_bias);
  layer.output = taker.Linear(prefix + "self_attn.o_proj", c.hidden_size, queries, c.output_bias);
  if (c.qk_norm) {
    layer.query_norm = taker.Take(prefix + "self_attn.q_norm.weight", {c.head_dim});
    layer.key_norm = taker.Take(prefix + "self_attn.k_norm.weight", {c.head_dim});
  }
  layer.mlp_norm = taker.Take(prefix + "post_attention_layernorm.weight", {c.hidden_size});
  layer.gate =
      taker.Linear(prefix + "mlp.gate_proj", c.intermediate_size, c.hidden_size, c.mlp_bias);
  layer.up = taker.Linear(prefix + "mlp.up_proj", c.intermediate_size, c.hidden_size, c.mlp_bias);
  layer.down =
      taker.Linear(prefix + "mlp.down_proj", c.hidden_size, c.intermediate_size, c.mlp_bias);
  return layer;
}

}  // namespace

ModelWeights PlaceWeights(const ModelConfig& config, const WeightSource& source) {
  Taker taker(source);
  ModelWeights model;
  model.embedding =
      taker.Take("model.embed_tokens.weight", {config.vocab_size, config.hidden_size});
  for (int64_t i = 0; i < config.num_layers; ++i)
    model.layers.push_back(TakeLayer(config, taker, i));
  model.norm = taker.Take("model.norm.weight", {config.hidden_size});
  if (config.tied_embeddings) {
    model.output.weight = model.embedding;
    taker.TakeCopy("lm_head.weight", *model.embedding);
  } else {
    model.output = taker.Linear("lm_head", config.outputs(), config.hidden_size, /*bias=*/false);
  }
  taker.ExpectAllTaken();
  return model;
}

}  // namespace agentr
