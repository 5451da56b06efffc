#include "rl/networks/mlp.h"

#include <fmt/format.h>

#include <cmath>

#include "common/random.h"

namespace agentr {
namespace {

using at::Tensor;

Tensor UniformTensor(at::IntArrayRef shape, double most, RandomStream stream, at::ScalarType type) {
  Tensor values = at::empty(shape, at::kDouble);
  double* data = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = (2 * stream.Uniform() - 1) * most;
  return values.to(type);
}

}  // namespace

Mlp::Mlp(const std::string& name, const std::vector<int64_t>& widths, Activation activation,
         uint64_t seed, at::ScalarType type)
    : activation_(activation) {
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const double most = 1 / std::sqrt(static_cast<double>(widths[i]));
    const auto add = [&](const char* what, at::IntArrayRef shape, bool decays) {
      const std::string full = fmt::format("{}.{}.{}", name, i, what);
      const RandomStream stream = RandomStream(seed).Split(full);
      parameters_.push_back({full, UniformTensor(shape, most, stream, type), {}, decays});
    };
    add("weight", {widths[i + 1], widths[i]}, true);
    add("bias", {widths[i + 1]}, false);
  }
}

void Mlp::Train() {
  for (Parameter& p : parameters_) p.gradient = at::zeros_like(p.value);
}

Tensor Mlp::Activate(const Tensor& x) const {
  return activation_ == Activation::kRelu ? x.clamp_min(0) : x.sigmoid();
}

Tensor Mlp::Forward(const Tensor& x, bool keep) {
  std::vector<Tensor> inputs;
  Tensor y = x;
  for (size_t i = 0; i < layers(); ++i) {
    if (i > 0) y = Activate(y);
    inputs.push_back(y);
    y = at::addmm(parameters_[2 * i + 1].value, y, parameters_[2 * i].value.t());
  }
  if (keep) inputs_ = std::move(inputs);
  return y;
}

Tensor Mlp::Backward(const Tensor& dy) {
  Tensor gradient = dy;
  for (size_t i = layers(); i-- > 0;) {
    const Tensor& x = inputs_[i];
    parameters_[2 * i].gradient.addmm_(gradient.t(), x);
    parameters_[2 * i + 1].gradient.add_(gradient.sum(0));
    gradient = at::mm(gradient, parameters_[2 * i].value);
    // A layer's input is the activation's output, from which its derivative follows.
    if (i == 0) break;
    gradient = activation_ == Activation::kRelu ? gradient * (x > 0) : gradient * x * (1 - x);
  }
  inputs_.clear();
  return gradient;
}

}  // namespace agentr
