#include "training/model/network.h"

#include <fmt/format.h>

#include "common/error.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/decoder/model_weights.h"
#include "lm/weights/quantised.h"
#include "training/model/without_autograd.h"

namespace agentr {
namespace {

using at::Tensor;

at::ScalarType TypeOf(WeightType type) {
  return type == WeightType::kF32   ? at::kFloat
         : type == WeightType::kF16 ? at::kHalf
                                    : at::kBFloat16;
}

Tensor Master(const Weight& weight, at::Device device) {
  if (IsQuantised(weight.type)) {
    const Tensor values = at::empty(weight.shape, at::kFloat);
    Dequantise(weight.type, weight.data.data(), values.numel(), values.data_ptr<float>());
    return values.to(device);
  }
  // LibTorch only reads through this pointer; the tensor is a copy.
  void* data = const_cast<std::byte*>(weight.data.data());
  const Tensor view = at::from_blob(data, weight.shape, at::dtype(TypeOf(weight.type)));
  return view.to(device, at::kFloat, /*non_blocking=*/false, /*copy=*/true);
}

Tensor Scaled(const Tensor& x, double factor) { return factor == 1 ? x : x * factor; }

RotaryTable TableOf(const Tensor& positions, const Tensor& frequencies, double factor) {
  const Tensor angles = at::outer(positions.to(at::kFloat), frequencies);
  return {Scaled(angles.cos(), factor), Scaled(angles.sin(), factor)};
}

// The matrices `parts` below each other, as one of the name `name` in the same module.
Parameter Fused(const std::vector<Parameter>& parts, const std::string& name) {
  std::vector<Tensor> values;
  for (const Parameter& part : parts) values.push_back(part.value);
  const std::string& first = parts[0].name;
  const size_t end = first.rfind('.', first.size() - std::string(".weight").size() - 1);
  return {first.substr(0, end + 1) + name + ".weight", at::cat(values), {}, true};
}

void TrainNorm(Parameter& norm) {
  if (norm.value.defined()) norm.gradient = at::zeros_like(norm.value);
}

}  // namespace

std::vector<int32_t> TargetRows(const Batch& batch) {
  std::vector<int32_t> rows;
  for (const Target& target : batch.targets) {
    if (rows.empty() || rows.back() != target.index) rows.push_back(target.index);
  }
  return rows;
}

Network::Network(const ModelConfig& config, const WeightSource& weights,
                 const NetworkOptions& options)
    : config_(config), options_(options) {
  Load(weights);
  for (size_t view = 0; view < frequencies_.size(); ++view) {
    frequencies_[view] =
        at::tensor(RotaryFrequencies(config_, HasWindowRope(view)), at::kFloat).to(options_.device);
  }
  Refresh();
}

void Network::Load(const WeightSource& weights) {
  if (config_.experts > 0) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("{}: models with experts ({}) run, but are not trained",
                                 weights.name(), config_.family));
  }
  const ModelWeights from = PlaceWeights(config_, weights);
  RequireFinite(weights);
  const auto master = [&](const Weight* of) {
    return of == nullptr ? Tensor() : Master(*of, options_.device);
  };
  const auto norm = [&](const std::string& name, const Weight* of) {
    return of == nullptr ? Parameter() : Parameter{name + ".weight", master(of), {}, false};
  };
  const auto part = [&](const std::string& name, const LinearWeights& of) {
    return Linear::Part{name, master(of.weight), master(of.bias)};
  };
  const NormNames names = NamesOf(config_.norms);
  embedding_ = Linear({{"model.embed_tokens", master(from.embedding), {}}}, /*decays=*/false);
  norm_ = norm("model.norm", from.norm);
  if (!config_.tied_embeddings) head_ = Linear({part("lm_head", from.output)});
  for (size_t i = 0; i < from.layers.size(); ++i) {
    const LayerWeights& w = from.layers[i];
    const std::string at = fmt::format("model.layers.{}.", i);
    Layer layer;
    const auto layer_norm = [&](std::string_view name, const Weight* of) {
      return norm(at + std::string(name), of);
    };
    layer.attention_norm = layer_norm(names.before_attention, w.attention_norm);
    layer.attention_out_norm = layer_norm(names.behind_attention, w.attention_out_norm);
    layer.mlp_norm = layer_norm(names.before_mlp, w.mlp_norm);
    layer.mlp_out_norm = layer_norm(names.behind_mlp, w.mlp_out_norm);
    layer.query_norm = norm(at + "self_attn.q_norm", w.query_norm);
    layer.key_norm = norm(at + "self_attn.k_norm", w.key_norm);
    layer.query = Linear({part(at + "self_attn.q_proj", w.query)});
    layer.key_value =
        Linear({part(at + "self_attn.k_proj", w.key), part(at + "self_attn.v_proj", w.value)});
    layer.output = Linear({part(at + "self_attn.o_proj", w.output)});
    layer.gate_up =
        Linear({part(at + "mlp.gate_proj", w.mlp.gate), part(at + "mlp.up_proj", w.mlp.up)});
    layer.down = Linear({part(at + "mlp.down_proj", w.mlp.down)});
    layers_.push_back(std::move(layer));
  }
}

void Network::TrainAll() {
  embedding_.Train();
  if (!config_.tied_embeddings) head_.Train();
  TrainNorm(norm_);
  for (Layer& layer : layers_) {
    for (Parameter* norm : NormsOf(layer)) TrainNorm(*norm);
    for (Linear* linear : LinearsOf(layer)) linear->Train();
  }
}

void Network::Refresh() {
  embedding_.Refresh(options_.type);
  if (!config_.tied_embeddings) head_.Refresh(options_.type);
  for (Layer& layer : layers_) {
    for (Linear* linear : LinearsOf(layer)) linear->Refresh(options_.type);
  }
}

const Tensor& Network::head_weight() const {
  return config_.tied_embeddings ? embedding_.weight() : head_.weight();
}

const Tensor& Network::head_gradient() const {
  return config_.tied_embeddings ? embedding_.gradient() : head_.gradient();
}

std::vector<Parameter> Network::weights() const { return Collect(/*merge=*/false); }
std::vector<Parameter> Network::merged() const { return Collect(/*merge=*/true); }

std::vector<Parameter> Network::Collect(bool merge) const {
  std::vector<Parameter> all;
  embedding_.AppendWeights(all);
  for (const Layer& layer : layers_) {
    for (const Parameter* norm : NormsOf(layer)) {
      if (norm->value.defined()) all.push_back(*norm);
    }
    const auto append = [&](const std::vector<const Linear*>& linears, const char* fused) {
      std::vector<Parameter> parts;
      for (const Linear* linear : linears) {
        (merge ? linear->Merged() : *linear).AppendWeights(parts);
      }
      if (merge && config_.fused && parts.size() > 1) parts = {Fused(parts, fused)};
      all.insert(all.end(), parts.begin(), parts.end());
    };
    append({&layer.query, &layer.key_value}, "qkv_proj");
    append({&layer.output}, "");
    append({&layer.gate_up}, "gate_up_proj");
    append({&layer.down}, "");
  }
  all.push_back(norm_);
  if (!config_.tied_embeddings) head_.AppendWeights(all);
  return all;
}

std::vector<Parameter> Network::trained() const {
  std::vector<Parameter> some = weights();
  std::erase_if(some, [](const Parameter& p) { return !p.gradient.defined(); });
  for (Parameter& adapter : adapters()) some.push_back(std::move(adapter));
  return some;
}

Tensor Network::Indices(const std::vector<int32_t>& values) const {
  return at::tensor(at::ArrayRef<int32_t>(values), at::kInt).to(options_.device, at::kLong);
}

void Network::Prepare(const Batch& batch, const std::vector<int32_t>& rows) {
  const bool some = rows.size() < batch.tokens.size();
  std::vector<int32_t> all(batch.tokens.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  tokens_ = Indices(batch.tokens);
  const Tensor positions = Indices(batch.positions);
  row_index_ = some ? Indices(rows) : Tensor();
  std::array<bool, 2> used = {};
  for (size_t layer = 0; layer < layers_.size(); ++layer) used[ViewOf(layer)] = true;
  for (size_t i = 0; i < views_.size(); ++i) {
    if (!used[i]) continue;
    const int64_t window = i == 1 ? config_.sliding_window : 0;
    View& view = views_[i];
    const double factor = HasWindowRope(i) ? 1 : config_.rope_attention;
    view.all.emplace(batch, all, window);
    view.table = TableOf(positions, frequencies_[i], factor);
    if (!some) continue;
    view.rows.emplace(batch, rows, window);
    view.row_table = TableOf(positions.index_select(0, row_index_), frequencies_[i], factor);
  }
}

Tensor Network::Forward(const Batch& batch, const std::vector<int32_t>& rows, bool keep,
                        uint64_t draw) {
  const WithoutAutograd guard;
  Prepare(batch, rows);
  draw_ = draw;
  kept_.clear();
  Tensor x = Scaled(embedding_.weight().index_select(0, tokens_), config_.embedding_scale);
  for (size_t i = 0; i < layers_.size(); ++i) {
    Kept kept;
    kept.x = x;
    x = LayerForward(i, x, kept);
    if (!keep) continue;
    if (options_.checkpoint_activations) {
      kept_.emplace_back().x = kept.x;
    } else {
      kept_.push_back(std::move(kept));
    }
  }
  last_ = keep ? x : Tensor();
  return Scaled(Norm(x, norm_), config_.logit_scale);
}

Tensor Network::FactorsOf(const Parameter& norm) const {
  return config_.norm_plus_one ? norm.value + 1 : norm.value;
}

Tensor Network::Norm(const Tensor& x, const Parameter& norm) const {
  return norm.value.defined() ? RmsNorm(x, FactorsOf(norm), config_.norm_epsilon) : x;
}

void Network::NormBackward(const Tensor& dy, const Tensor& x, const Parameter& norm,
                           const Tensor& dx) const {
  if (norm.value.defined()) {
    RmsNormBackward(dy, x, FactorsOf(norm), config_.norm_epsilon, dx, norm.gradient);
  } else {
    dx.add_(dy);
  }
}

Tensor Network::Branch(const Tensor& out, const Parameter& norm, Tensor& kept) const {
  if (norm.value.defined()) kept = out;
  return Scaled(Norm(out, norm), config_.residual_scale);
}

Tensor Network::BranchBackward(const Tensor& dy, const Parameter& norm, const Tensor& kept) const {
  const Tensor scaled = Scaled(dy, config_.residual_scale);
  if (!norm.value.defined()) return scaled;
  const Tensor dx = at::zeros_like(kept);
  NormBackward(scaled, kept, norm, dx);
  return dx;
}

Tensor Network::LayerForward(size_t index, const Tensor& x, Kept& kept) const {
  const Layer& layer = layers_[index];
  AttentionForward(index, Norm(x, layer.attention_norm), kept);
  const Tensor out = layer.output.Forward(kept.mixed, draw_);
  kept.middle = Branch(out, layer.attention_out_norm, kept.attention_out).add_(Rows(index, x));
  return MlpForward(layer, kept);
}

void Network::AttentionForward(size_t index, const Tensor& y, Kept& kept) const {
  const Layer& layer = layers_[index];
  const int64_t groups = config_.num_kv_heads, shared = config_.num_heads / groups;
  const int64_t width = groups * config_.head_dim;
  Tensor q = layer.query.Forward(Rows(index, y), draw_);
  const Tensor kv = layer.key_value.Forward(y, draw_);
  Tensor k = kv.narrow(1, 0, width);
  if (config_.qk_norm) {
    kept.query_values = q;
    kept.key_values = k.contiguous();
    q = HeadNorm(kept.query_values, layer.query_norm);
    k = HeadNorm(kept.key_values, layer.key_norm);
  }
  kept.heads = {Scaled(ToHeads(q, groups, shared, QueryTable(index)), config_.score_scale),
                ToHeads(k, groups, 1, KeyTable(index)),
                ToHeads(kv.narrow(1, width, width), groups, 1, nullptr)};
  const AttentionOutput out = Attend(Plan(index), kept.heads);
  kept.log_sums = out.log_sums;
  kept.mixed = at::empty_like(q);
  FromHeads(out.mixed, nullptr, kept.mixed);
}

Tensor Network::MlpForward(const Layer& layer, Kept& kept) const {
  kept.gate_up = layer.gate_up.Forward(Norm(kept.middle, layer.mlp_norm), draw_);
  const Tensor out = layer.down.Forward(SwiGlu(kept.gate_up, config_.gelu), draw_);
  return Branch(out, layer.mlp_out_norm, kept.mlp_out).add_(kept.middle);
}

Tensor Network::HeadNorm(const Tensor& values, const Parameter& norm) const {
  return Norm(values.view({-1, norm.value.size(0)}), norm).view(values.sizes());
}

Tensor Network::HeadNormBackward(const Tensor& dy, const Tensor& values,
                                 const Parameter& norm) const {
  const Tensor dx = at::zeros_like(dy);
  const auto heads = [&](const Tensor& x) { return x.view({-1, norm.value.size(0)}); };
  NormBackward(heads(dy), heads(values), norm, heads(dx));
  return dx;
}

void Network::Backward(const Tensor& dhidden) {
  const WithoutAutograd guard;
  Tensor dx = at::zeros_like(last_);
  NormBackward(Scaled(dhidden, config_.logit_scale), last_, norm_, dx);
  last_ = Tensor();
  for (size_t i = layers_.size(); i-- > 0;) {
    Kept kept = std::move(kept_.back());
    kept_.pop_back();
    if (options_.checkpoint_activations) LayerForward(i, kept.x, kept);
    dx = LayerBackward(i, kept, dx);
    if (layer_done_) layer_done_(static_cast<int>(i));
  }
  if (embedding_.gradient().defined()) {
    embedding_.gradient().index_add_(0, tokens_,
                                     Scaled(dx.to(at::kFloat), config_.embedding_scale));
  }
}

// `dout`, the gradient of the layer's output, is changed in place into that of the layer's middle.
Tensor Network::LayerBackward(size_t index, const Kept& kept, const Tensor& dout) {
  Layer& layer = layers_[index];
  MlpBackward(layer, kept, dout);
  const Tensor y = Norm(kept.x, layer.attention_norm);
  const Tensor dbranch = BranchBackward(dout, layer.attention_out_norm, kept.attention_out);
  const Tensor dy = AttentionBackward(index, kept, dbranch, y);
  Tensor dx = dout;
  if (SomeRows(index)) dx = at::zeros_like(kept.x).index_copy_(0, row_index_, dout);
  NormBackward(dy, kept.x, layer.attention_norm, dx);
  return dx;
}

void Network::MlpBackward(Layer& layer, const Kept& kept, const Tensor& dx) {
  const Tensor dbranch = BranchBackward(dx, layer.mlp_out_norm, kept.mlp_out);
  const SwiGluGradient inner =
      SwiGluBackward(layer.down.InputGradient(dbranch, draw_), kept.gate_up, config_.gelu);
  layer.down.AddGradients(dbranch, inner.y, draw_);
  layer.gate_up.AddGradients(inner.dgate_up, Norm(kept.middle, layer.mlp_norm), draw_);
  NormBackward(layer.gate_up.InputGradient(inner.dgate_up, draw_), kept.middle, layer.mlp_norm, dx);
}

// The gradient of y, the normalised input of attention.
// The forward pass is y -> query, key and value -> (head norm) -> rotation -> attention -> output;
// this is the same backwards. The gradients of keys and values lie side by side as the columns of
// one product. In the last layer only the rows with targets have queries (SomeRows), so their part
// is added by row: of 10 tokens with 3 targets, dkv has 10 rows and dquery 3.
Tensor Network::AttentionBackward(size_t index, const Kept& kept, const Tensor& dbranch,
                                  const Tensor& y) {
  Layer& layer = layers_[index];
  const int64_t groups = config_.num_kv_heads, shared = config_.num_heads / groups;
  const int64_t width = groups * config_.head_dim;
  const Tensor dmixed = layer.output.InputGradient(dbranch, draw_);
  layer.output.AddGradients(dbranch, kept.mixed, draw_);
  const AttentionInput grad = AttendBackward(Plan(index), kept.heads, kept.log_sums,
                                             ToHeads(dmixed, groups, shared, nullptr),
                                             HeadDots(dmixed, kept.mixed, groups, shared));
  const Tensor dq = at::empty_like(kept.mixed);
  FromHeads(Scaled(grad.q, config_.score_scale), QueryTable(index), dq);
  const Tensor dkv = at::empty({y.size(0), 2 * width}, y.options());
  FromHeads(grad.k, KeyTable(index), dkv.narrow(1, 0, width));
  FromHeads(grad.v, nullptr, dkv.narrow(1, width, width));
  Tensor dquery = dq;
  if (config_.qk_norm) {
    dquery = HeadNormBackward(dq, kept.query_values, layer.query_norm);
    const Tensor dk = dkv.narrow(1, 0, width);
    dk.copy_(HeadNormBackward(dk.contiguous(), kept.key_values, layer.key_norm));
  }
  layer.query.AddGradients(dquery, Rows(index, y), draw_);
  layer.key_value.AddGradients(dkv, y, draw_);
  Tensor dy = layer.key_value.InputGradient(dkv, draw_);
  const Tensor from_query = layer.query.InputGradient(dquery, draw_);
  if (SomeRows(index)) {
    dy.index_add_(0, row_index_, from_query);
  } else {
    dy.add_(from_query);
  }
  return dy;
}

}  // namespace agentr
