#include "lm/decoder/aten_decoder.h"

#include <fmt/format.h>

#include <cmath>

#include "common/error.h"
#include "lm/decoder/model_weights.h"
#include "lm/decoder/torch_compat.h"

namespace agentr {
namespace {

using at::Tensor;

constexpr int64_t kBlockTokens = 32;

at::ScalarType ScalarType(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return at::kFloat;
    case WeightType::kF16:
      return at::kHalf;
    default:
      return at::kBFloat16;
  }
}

at::Device ParseDevice(const std::string& name) {
  try {
    const at::Device device(name);
    if (device.is_cpu()) return device;
    if (device.is_cuda() && at::hasCUDA()) return device;
  } catch (const c10::Error&) {
  }
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--device {}: this LibTorch has no such device; it has cpu{}. Cure: "
                               "--device cpu, or a LibTorch with CUDA (CMAKE_PREFIX_PATH)",
                               name, at::hasCUDA() ? " and cuda" : ""));
}

struct Linear {
  Tensor weight;  // [outputs, inputs]
  Tensor bias;    // [outputs]; undefined: none

  Tensor operator()(const Tensor& x) const {
    return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
  }
};

struct Mlp {
  Linear gate, up, down;
};

struct Layer {
  Tensor attention_norm, attention_out_norm, query_norm, key_norm, mlp_norm, mlp_out_norm;
  Linear query, key, value, output;
  Mlp mlp;  // without experts
  Linear router;
  std::vector<Mlp> experts;
  Tensor keys, values;  // the pool: [blocks, block_tokens, num_kv_heads, head_dim]
};

// Of rotary positions [M, 1, head_dim / 2]; undefined: none.
struct Angles {
  Tensor cos, sin;
};

// B chunks with T new tokens each whose attention is computed together.
struct Group {
  Tensor rows;         // [B * T]: the rows of their tokens in the batch
  Tensor blocks;       // [B, N]: block tables, padded
  Tensor mask;         // [B, 1, T, L]: true where a token sees a position
  Tensor window_mask;  // the same in layers with a window
};

class AtenDecoder : public Decoder {
 public:
  AtenDecoder(const DecoderPlan& plan, const WeightSource& source, const std::string& device,
              bool reference)
      : config_(plan.config),
        options_(at::device(ParseDevice(device)).dtype(ScalarType(plan.number_type))),
        fused_(!reference && kHasFusedAttention) {
    const c10::InferenceMode inference;
    if (options_.device().is_cpu()) at::set_num_threads(plan.threads);
    frequencies_ =
        at::tensor(RotaryFrequencies(config_, /*window=*/false, plan.max_context), at::kFloat)
            .to(options_.device());
    if (config_.window_rope_theta > 0) {
      window_frequencies_ =
          at::tensor(RotaryFrequencies(config_, /*window=*/true), at::kFloat).to(options_.device());
    }
    const int64_t block_bytes = 2 * config_.num_layers * kBlockTokens * config_.num_kv_heads *
                                config_.head_dim * static_cast<int64_t>(Bytes(plan.number_type));
    shape_ = {static_cast<int32_t>(config_.vocab_size), plan.max_context, kBlockTokens,
              BlocksOfPool(plan.cache_bytes, block_bytes), block_bytes};
    layers_.resize(static_cast<size_t>(config_.num_layers));
    for (Layer& layer : layers_) MakePool(layer);
    Load(source);
  }

  const DecoderShape& shape() const override { return shape_; }

  std::span<const float> Forward(std::span<const SequenceChunk> batch) override {
    const c10::InferenceMode inference;
    std::vector<int64_t> tokens, positions, slots, wanted;
    for (const SequenceChunk& chunk : batch) {
      for (size_t i = 0; i < chunk.tokens.size(); ++i) {
        const int64_t position = chunk.start + static_cast<int64_t>(i);
        tokens.push_back(chunk.tokens[i]);
        positions.push_back(position);
        slots.push_back(chunk.blocks[position / kBlockTokens] * kBlockTokens +
                        position % kBlockTokens);
      }
      for (int i = chunk.logits; i > 0; --i) {
        wanted.push_back(static_cast<int64_t>(tokens.size()) - i);
      }
    }
    const std::vector<Group> groups = MakeGroups(batch);
    const Tensor places = Longs(positions).to(at::kFloat);
    const auto angles = [&](const Tensor& frequencies, double factor) -> Angles {
      if (!frequencies.defined()) return {};
      const Tensor radians = at::outer(places, frequencies).unsqueeze(1);
      return {Scaled(radians.cos(), factor), Scaled(radians.sin(), factor)};
    };
    const Angles all_angles = angles(frequencies_, config_.rope_attention),
                 window_angles = angles(window_frequencies_, 1);
    const Angles no_angles;
    const Tensor slots_on_device = Longs(slots);

    Tensor x = Scaled(embedding_.index_select(0, Longs(tokens)), config_.embedding_scale);
    for (size_t i = 0; i < layers_.size(); ++i) {  // x: [M, width]
      Layer& layer = layers_[i];
      const Angles& turned = !config_.HasRotary(i)      ? no_angles
                             : config_.HasWindowRope(i) ? window_angles
                                                        : all_angles;
      const Tensor mixed = Attention(layer, RmsNorm(x, layer.attention_norm), turned,
                                     slots_on_device, groups, config_.WindowOf(i) > 0);
      x = x + Scaled(RmsNorm(mixed, layer.attention_out_norm), config_.residual_scale);
      const Tensor y = RmsNorm(x, layer.mlp_norm);
      const Tensor inner = layer.experts.empty() ? Forward(layer.mlp, y) : ForwardExperts(layer, y);
      x = x + Scaled(RmsNorm(inner, layer.mlp_out_norm), config_.residual_scale);
    }
    if (wanted.empty()) return {};
    x = Scaled(RmsNorm(x.index_select(0, Longs(wanted)), norm_), config_.logit_scale);
    logits_ = output_(x).to(at::kCPU, at::kFloat).contiguous();
    return {logits_.data_ptr<float>(), static_cast<size_t>(logits_.numel())};
  }

  void CopyBlock(int32_t from, int32_t to, int32_t tokens) override {
    const c10::InferenceMode inference;
    for (Layer& layer : layers_) {
      for (Tensor& pool : {std::ref(layer.keys), std::ref(layer.values)}) {
        pool.select(0, to).narrow(0, 0, tokens).copy_(pool.select(0, from).narrow(0, 0, tokens));
      }
    }
  }

  void Load(std::shared_ptr<const WeightSource> weights) override {
    const c10::InferenceMode inference;
    Load(*weights);
  }

 private:
  void Load(const WeightSource& source) {
    const ModelWeights weights = PlaceWeights(config_, source);
    Load(weights.embedding, embedding_);
    if (config_.tied_embeddings) {
      output_.weight = embedding_;
    } else {
      Load(weights.output, output_);
    }
    LoadNorm(weights.norm, norm_);
    for (size_t i = 0; i < layers_.size(); ++i) Load(weights.layers[i], layers_[i]);
  }

  // Copies into the existing memory of the tensor, so that weights can be replaced even if they
  // fill a device.
  void Load(const Weight* weight, Tensor& tensor) const {
    if (weight == nullptr) return;
    // LibTorch only reads through this pointer; both branches copy.
    void* data = const_cast<std::byte*>(weight->data.data());
    const Tensor view = at::from_blob(data, weight->shape, at::dtype(ScalarType(weight->type)));
    if (tensor.defined()) {
      tensor.copy_(view);
    } else {
      tensor = view.to(options_, /*non_blocking=*/false, /*copy=*/true);
    }
  }

  void LoadNorm(const Weight* weight, Tensor& tensor) const {
    Load(weight, tensor);
    if (weight != nullptr && config_.norm_plus_one) tensor.add_(1);
  }

  Tensor Forward(const Mlp& mlp, const Tensor& y) const {
    const Tensor gate = mlp.gate(y);
    return mlp.down((config_.gelu ? at::gelu(gate, "tanh") : at::silu(gate)) * mlp.up(y));
  }

  // The sum of what each token's experts make of it, with their weights (ModelConfig::experts).
  Tensor ForwardExperts(const Layer& layer, const Tensor& y) const {
    const auto top = layer.router(y).softmax(-1, at::kFloat).topk(config_.token_experts, -1);
    Tensor weights = std::get<0>(top);
    if (config_.normal_experts) weights = weights / weights.sum(-1, /*keepdim=*/true);
    Tensor sum = at::zeros_like(y);
    for (size_t e = 0; e < layer.experts.size(); ++e) {
      const Tensor chosen = std::get<1>(top).eq(static_cast<int64_t>(e));  // [M, token_experts]
      const Tensor rows = chosen.any(-1).nonzero().view(-1);
      if (rows.numel() == 0) continue;
      const Tensor weight = (weights * chosen).sum(-1, /*keepdim=*/true).index_select(0, rows);
      const Tensor made = Forward(layer.experts[e], y.index_select(0, rows));
      sum.index_add_(0, rows, (made * weight).to(y.scalar_type()));
    }
    return sum;
  }

  static Tensor Scaled(const Tensor& x, double factor) { return factor == 1 ? x : x * factor; }

  void Load(const LinearWeights& from, Linear& linear) const {
    Load(from.weight, linear.weight);
    Load(from.bias, linear.bias);
  }

  void Load(const LayerWeights& from, Layer& layer) const {
    LoadNorm(from.attention_norm, layer.attention_norm);
    LoadNorm(from.attention_out_norm, layer.attention_out_norm);
    LoadNorm(from.mlp_norm, layer.mlp_norm);
    LoadNorm(from.mlp_out_norm, layer.mlp_out_norm);
    LoadNorm(from.query_norm, layer.query_norm);
    LoadNorm(from.key_norm, layer.key_norm);
    Load(from.query, layer.query);
    Load(from.key, layer.key);
    Load(from.value, layer.value);
    Load(from.output, layer.output);
    if (from.experts.empty()) return Load(from.mlp, layer.mlp);
    Load(from.router, layer.router);
    layer.experts.resize(from.experts.size());
    for (size_t e = 0; e < from.experts.size(); ++e) Load(from.experts[e], layer.experts[e]);
  }

  void Load(const MlpWeights& from, Mlp& mlp) const {
    Load(from.gate, mlp.gate);
    Load(from.up, mlp.up);
    Load(from.down, mlp.down);
  }

  void MakePool(Layer& layer) const {
    const std::vector<int64_t> pool = {shape_.blocks, kBlockTokens, config_.num_kv_heads,
                                       config_.head_dim};
    layer.keys = at::zeros(pool, options_);
    layer.values = at::zeros(pool, options_);
  }

  Tensor Longs(const std::vector<int64_t>& values) const {
    return at::tensor(values, at::kLong).to(options_.device());
  }

  // x / sqrt(mean(x²) + epsilon) * weight over the last dimension (Zhang and Sennrich 2019); the
  // mean in float32. Without a weight there is no norm.
  Tensor RmsNorm(const Tensor& x, const Tensor& weight) const {
    if (!weight.defined()) return x;
    const Tensor wide = x.to(at::kFloat);
    const Tensor scale = at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + config_.norm_epsilon);
    return (wide * scale).to(x.scalar_type()) * weight;
  }

  // Turns each pair (i, i + head_dim / 2) of x [M, heads, head_dim] by its angle, if there are
  // angles.
  static Tensor Rotate(const Tensor& x, const Angles& angles) {
    const auto& [cos, sin] = angles;
    if (!cos.defined()) return x;
    const std::vector<Tensor> half = x.to(at::kFloat).chunk(2, -1);
    return at::cat({half[0] * cos - half[1] * sin, half[1] * cos + half[0] * sin}, -1)
        .to(x.scalar_type());
  }

  std::vector<Group> MakeGroups(std::span<const SequenceChunk> batch) const {
    std::vector<Group> groups;
    std::vector<const SequenceChunk*> single;
    std::vector<int64_t> single_rows;
    int64_t row = 0;
    for (const SequenceChunk& chunk : batch) {
      const auto count = static_cast<int64_t>(chunk.tokens.size());
      if (fused_ && count == 1) {
        single.push_back(&chunk);
        single_rows.push_back(row);
      } else {
        groups.push_back(MakeGroup({&chunk}, at::arange(row, row + count, at::kLong)));
      }
      row += count;
    }
    if (!single.empty()) groups.push_back(MakeGroup(single, at::tensor(single_rows, at::kLong)));
    return groups;
  }

  Group MakeGroup(const std::vector<const SequenceChunk*>& chunks, const Tensor& rows) const {
    const auto count = static_cast<int64_t>(chunks.size());
    const auto length = static_cast<int64_t>(chunks[0]->tokens.size());
    int64_t longest = 0;
    for (const SequenceChunk* chunk : chunks) longest = std::max(longest, chunk->start + length);
    const int64_t width = (longest + kBlockTokens - 1) / kBlockTokens;
    std::vector<int64_t> blocks(count * width, 0);
    std::vector<int64_t> starts;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t own = (chunks[i]->start + length + kBlockTokens - 1) / kBlockTokens;
      std::copy_n(chunks[i]->blocks.begin(), own, blocks.begin() + i * width);
      starts.push_back(chunks[i]->start);
    }
    const Tensor start = at::tensor(starts, at::kLong).view({count, 1, 1, 1});
    const Tensor query = start + at::arange(length, at::kLong).view({length, 1});  // [B, 1, T, 1]
    const Tensor key = at::arange(longest, at::kLong);
    const Tensor mask = key.le(query);
    Tensor window_mask = mask;
    if (config_.sliding_window > 0) window_mask = mask & (query - key).lt(config_.sliding_window);
    const at::Device device = options_.device();
    return {rows.to(device), Longs(blocks).view({count, width}), mask.to(device),
            window_mask.to(device)};
  }

  // y [M, width] -> [M, width]. Stores the keys and values of the new tokens.
  Tensor Attention(Layer& layer, const Tensor& y, const Angles& angles, const Tensor& slots,
                   const std::vector<Group>& groups, bool window) const {
    const int64_t m = y.size(0), d = config_.head_dim;
    // A norm's width is that of a head or of all heads.
    const auto heads = [&](const Tensor& x, const Tensor& norm) {
      const int64_t width = x.size(1);
      if (!norm.defined()) return x.view({m, width / d, d});
      const int64_t of_norm = norm.size(0);
      return RmsNorm(x.view({m, width / of_norm, of_norm}), norm).view({m, width / d, d});
    };
    Tensor q = heads(layer.query(y), layer.query_norm);
    const Tensor k = heads(layer.key(y), layer.key_norm);
    const Tensor v = layer.value(y).view({m, config_.num_kv_heads, d});
    layer.keys.view({-1, config_.num_kv_heads, d}).index_copy_(0, slots, Rotate(k, angles));
    layer.values.view({-1, config_.num_kv_heads, d}).index_copy_(0, slots, v);
    q = Scaled(Rotate(q, angles), config_.score_scale);
    Tensor mixed = at::empty_like(q);
    for (const Group& group : groups) {
      mixed.index_copy_(0, group.rows,
                        Attend(layer, q.index_select(0, group.rows), group,
                               window ? group.window_mask : group.mask));
    }
    return layer.output(mixed.view({m, config_.num_heads * d}));
  }

  // q [B * T, heads, head_dim] -> the same shape.
  Tensor Attend(const Layer& layer, const Tensor& q, const Group& group, const Tensor& mask) const {
    const int64_t b = mask.size(0), t = mask.size(2), l = mask.size(3);
    const int64_t d = config_.head_dim;
    const Tensor query = q.view({b, t, config_.num_heads, d}).transpose(1, 2);
    const Tensor key = Gather(layer.keys, group.blocks, l);
    const Tensor value = Gather(layer.values, group.blocks, l);
    Tensor mixed;  // [B, heads, T, head_dim]
    if (fused_) {
      mixed = FusedAttention(query, key, value, mask);
    } else {
      const double scale = 1 / std::sqrt(static_cast<double>(d));
      const Tensor scores = at::matmul(query, key.transpose(2, 3)).to(at::kFloat) * scale;
      const Tensor shares = scores.masked_fill(mask.logical_not(), -INFINITY).softmax(-1);
      mixed = at::matmul(shares.to(value.scalar_type()), value);
    }
    return mixed.transpose(1, 2).reshape({b * t, config_.num_heads, d});
  }

  // Gathers the first `length` positions of sequences from the pool and repeats each kv head for
  // the queries that share it: [B, heads, length, head_dim].
  Tensor Gather(const Tensor& pool, const Tensor& blocks, int64_t length) const {
    const int64_t b = blocks.size(0), d = config_.head_dim;
    const int64_t sharing = config_.num_heads / config_.num_kv_heads;
    return pool.index_select(0, blocks.view(-1))
        .view({b, -1, config_.num_kv_heads, 1, d})
        .narrow(1, 0, length)
        .expand({b, length, config_.num_kv_heads, sharing, d})
        .reshape({b, length, config_.num_heads, d})
        .transpose(1, 2);
  }

  const ModelConfig config_;
  const at::TensorOptions options_;
  const bool fused_;
  DecoderShape shape_;
  Tensor embedding_;                         // [vocabulary, width]
  Tensor norm_;                              // [width]
  Tensor frequencies_, window_frequencies_;  // [head_dim / 2]; the second: undefined if equal
  Linear output_;
  std::vector<Layer> layers_;
  Tensor logits_;  // of the last call
};

}  // namespace
}  // namespace agentr

agentr::Decoder* agentr_make_aten_decoder(const agentr::DecoderPlan& plan,
                                          const agentr::WeightSource& weights,
                                          const std::string& device, bool reference) {
  return std::make_unique<agentr::AtenDecoder>(plan, weights, device, reference).release();
}
