#include "training/model/linear.h"

#include <ATen/Parallel.h>

#include <utility>

#include "common/random.h"
#include "training/model/matrix_product.h"

namespace agentr {
namespace {

using at::Tensor;

// The factors of dropout for an input of this shape: 0 or 1 / (1 - share), drawn from the stream of
// this adapter, draw and row, so they do not depend on threads.
Tensor DropoutFactors(const Adapter& adapter, uint64_t draw, const Tensor& x) {
  Tensor factors = at::empty(x.sizes(), at::kFloat);
  float* out = factors.data_ptr<float>();
  const int64_t width = x.size(1);
  const RandomStream stream = RandomStream(adapter.key).Split(draw);
  const auto kept = static_cast<float>(1 / (1 - adapter.dropout));
  at::parallel_for(0, x.size(0), 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      RandomStream draws = stream.Split(static_cast<uint64_t>(row));
      for (int64_t i = 0; i < width; ++i) {
        out[row * width + i] = draws.Chance(adapter.dropout) ? 0.0f : kept;
      }
    }
  });
  return factors.to(x.options());
}

bool Drops(const Adapter& adapter, uint64_t draw) { return adapter.dropout > 0 && draw != 0; }

Tensor Dropped(const Adapter& adapter, uint64_t draw, const Tensor& x) {
  return Drops(adapter, draw) ? x * DropoutFactors(adapter, draw, x) : x;
}

Tensor ZerosFor(const Tensor& value) { return at::zeros(value.sizes(), value.options()); }

}  // namespace

Linear::Linear(const std::vector<Part>& parts, bool decays) : decays_(decays) {
  std::vector<Tensor> weights, biases;
  int64_t end = 0;
  for (const Part& part : parts) {
    names_.push_back(part.name);
    ends_.push_back(end += part.weight.size(0));
    weights.push_back(part.weight);
    if (part.bias.defined()) biases.push_back(part.bias);
  }
  master_ = weights.size() == 1 ? weights[0] : at::cat(weights, 0);
  if (!biases.empty()) bias_ = at::cat(biases, 0);
  Refresh(at::kFloat);
}

void Linear::Train() {
  gradient_ = ZerosFor(master_);
  if (bias_.defined()) bias_gradient_ = ZerosFor(bias_);
}

void Linear::AddAdapter(size_t part, Adapter adapter) {
  adapter.a.gradient = ZerosFor(adapter.a.value);
  adapter.b.gradient = ZerosFor(adapter.b.value);
  adapters_.push_back({part, std::move(adapter), {}, {}});
}

void Linear::Refresh(at::ScalarType type) {
  const auto copy = [type](const Tensor& from, Tensor& to) {
    if (!from.defined()) return;
    if (to.defined() && to.scalar_type() == type && type != at::kFloat) {
      to.copy_(from);
    } else {
      to = from.to(type);  // for float32 it is the master itself
    }
  };
  copy(master_, weight_);
  copy(bias_, narrow_bias_);
  for (Placed& placed : adapters_) {
    copy(placed.adapter.a.value, placed.a);
    copy(placed.adapter.b.value, placed.b);
  }
}

Linear Linear::Merged() const {
  Linear merged = *this;
  if (adapters_.empty()) return merged;
  merged.master_ = master_.clone();
  for (const Placed& placed : adapters_) {
    merged.master_.narrow(0, Begin(placed.part), outputs(placed.part))
        .addmm_(placed.adapter.b.value, placed.adapter.a.value, 1, placed.adapter.scale);
  }
  merged.adapters_.clear();
  return merged;
}

Tensor Linear::Forward(const Tensor& x, uint64_t draw) const {
  Tensor y = Multiply(x, weight_.t());
  if (narrow_bias_.defined()) y.add_(narrow_bias_);
  for (const Placed& placed : adapters_) {
    const Tensor low = Multiply(Dropped(placed.adapter, draw, x), placed.a.t());
    Columns(y, placed.part).add_(Multiply(low, placed.b.t()), placed.adapter.scale);
  }
  return y;
}

Tensor Linear::InputGradient(const Tensor& dy, uint64_t draw) const {
  Tensor dx = Multiply(dy, weight_);
  for (const Placed& placed : adapters_) {
    const Tensor dlow = Multiply(Columns(dy, placed.part), placed.b);
    dx.add_(Dropped(placed.adapter, draw, Multiply(dlow, placed.a)), placed.adapter.scale);
  }
  return dx;
}

void Linear::AddGradients(const Tensor& dy, const Tensor& x, uint64_t draw) {
  if (gradient_.defined()) AddProduct(gradient_, dy, x);
  if (bias_gradient_.defined()) bias_gradient_.add_(dy.sum(0, false, at::kFloat));
  for (Placed& placed : adapters_) {
    Adapter& adapter = placed.adapter;
    const Tensor inputs = Dropped(adapter, draw, x), d = Columns(dy, placed.part);
    AddProduct(adapter.b.gradient, d, Multiply(inputs, placed.a.t()), adapter.scale);
    AddProduct(adapter.a.gradient, Multiply(d, placed.b), inputs, adapter.scale);
  }
}

void Linear::AppendWeights(std::vector<Parameter>& all) const {
  for (size_t p = 0; p < parts(); ++p) {
    const auto part = [&](const Tensor& of) {
      return of.defined() ? of.narrow(0, Begin(p), outputs(p)) : Tensor();
    };
    all.push_back({names_[p] + ".weight", part(master_), part(gradient_), decays_});
    if (bias_.defined()) {
      all.push_back({names_[p] + ".bias", part(bias_), part(bias_gradient_), false});
    }
  }
}

void Linear::AppendAdapters(std::vector<Parameter>& all) const {
  for (const Placed& placed : adapters_) {
    all.push_back(placed.adapter.a);
    all.push_back(placed.adapter.b);
  }
}

}  // namespace agentr
