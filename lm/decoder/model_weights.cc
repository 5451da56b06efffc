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

// Rows of a matrix or vector.
Weight RowsOf(const Weight& whole, int64_t begin, int64_t count) {
  Weight part = whole;
  const auto bytes = static_cast<int64_t>(whole.data.size()) / whole.shape[0];
  part.shape[0] = count;
  part.data = whole.data.subspan(begin * bytes, count * bytes);
  return part;
}

// Takes the layers whose rows lie below each other in `name`, of these numbers of outputs.
void TakeFused(Taker& taker, const std::string& name, int64_t inputs,
               const std::vector<std::pair<LinearWeights*, int64_t>>& layers,
               std::deque<Weight>& parts) {
  int64_t all = 0;
  for (const auto& [layer, outputs] : layers) all += outputs;
  const Weight* whole = taker.Take(name + ".weight", {all, inputs});
  int64_t begin = 0;
  for (const auto& [layer, outputs] : layers) {
    layer->weight = &parts.emplace_back(RowsOf(*whole, begin, outputs));
    begin += outputs;
  }
}

LayerWeights TakeLayer(const ModelConfig& c, Taker& taker, int64_t index,
                       std::deque<Weight>& parts) {
  const std::string prefix = fmt::format("model.layers.{}.", index);
  const int64_t queries = c.num_heads * c.head_dim;
  const int64_t keys = c.num_kv_heads * c.head_dim;
  LayerWeights layer;
  const NormNames norms = NamesOf(c.norms);
  const auto norm = [&](std::string_view name) {
    return name.empty() ? nullptr
                        : taker.Take(fmt::format("{}{}.weight", prefix, name), {c.hidden_size});
  };
  layer.attention_norm = norm(norms.before_attention);
  layer.attention_out_norm = norm(norms.behind_attention);
  layer.mlp_norm = norm(norms.before_mlp);
  layer.mlp_out_norm = norm(norms.behind_mlp);
  if (c.fused) {
    TakeFused(taker, prefix + "self_attn.qkv_proj", c.hidden_size,
              {{&layer.query, queries}, {&layer.key, keys}, {&layer.value, keys}}, parts);
    TakeFused(taker, prefix + "mlp.gate_up_proj", c.hidden_size,
              {{&layer.mlp.gate, c.intermediate_size}, {&layer.mlp.up, c.intermediate_size}},
              parts);
  } else {
    layer.query = taker.Linear(prefix + "self_attn.q_proj", queries, c.hidden_size, c.qkv_bias);
    layer.key = taker.Linear(prefix + "self_attn.k_proj", keys, c.hidden_size, c.qkv_bias);
    layer.value = taker.Linear(prefix + "self_attn.v_proj", keys, c.hidden_size, c.qkv_bias);
  }
  layer.output = taker.Linear(prefix + "self_attn.o_proj", c.hidden_size, queries, c.output_bias);
  if (c.qk_norm) {
    layer.query_norm =
        taker.Take(prefix + "self_attn.q_norm.weight", {c.qk_norm_of_all ? queries : c.head_dim});
    layer.key_norm =
        taker.Take(prefix + "self_attn.k_norm.weight", {c.qk_norm_of_all ? keys : c.head_dim});
  }
  const auto mlp = [&](const std::string& module, const ExpertNames& names) {
    const auto name = [&](std::string_view part) { return fmt::format("{}.{}", module, part); };
    return MlpWeights{
        taker.Linear(name(names.gate), c.intermediate_size, c.hidden_size, c.mlp_bias),
        taker.Linear(name(names.up), c.intermediate_size, c.hidden_size, c.mlp_bias),
        taker.Linear(name(names.down), c.hidden_size, c.intermediate_size, c.mlp_bias)};
  };
  if (c.experts > 0) {
    const ExpertNames& names = FamilyOf(c.family).experts;
    const std::string module = fmt::format("{}{}", prefix, names.module);
    layer.router = taker.Linear(module + ".gate", c.experts, c.hidden_size, /*bias=*/false);
    for (int64_t e = 0; e < c.experts; ++e) {
      layer.experts.push_back(mlp(fmt::format("{}.experts.{}", module, e), names));
    }
  } else if (c.fused) {
    layer.mlp.down =
        taker.Linear(prefix + "mlp.down_proj", c.hidden_size, c.intermediate_size, c.mlp_bias);
  } else {
    layer.mlp = mlp(prefix + "mlp", {});
  }
  return layer;
}

}  // namespace

ModelWeights PlaceWeights(const ModelConfig& config, const WeightSource& source) {
  Taker taker(source);
  ModelWeights model;
  model.embedding =
      taker.Take("model.embed_tokens.weight", {config.vocab_size, config.hidden_size});
  for (int64_t i = 0; i < config.num_layers; ++i)
    model.layers.push_back(TakeLayer(config, taker, i, model.parts));
  model.norm = taker.Take("model.norm.weight", {config.hidden_size});
  if (config.tied_embeddings) {
    model.output.weight = model.embedding;
    taker.TakeCopy("lm_head.weight", *model.embedding);
  } else {
    model.output = taker.Linear("lm_head", config.vocab_size, config.hidden_size, /*bias=*/false);
  }
  taker.ExpectAllTaken();
  return model;
}

}  // namespace agentr
