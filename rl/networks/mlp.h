// A small head on a network's hidden states: linear layers with an activation between them, with a
// hand-written backward pass. The value head of GLAM, and Q and V of ArCHer's critic.
//
// It begins as PyTorch's Linear does: weights and biases uniform in ±1 / sqrt(inputs).
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/named_values.h"
#include "training/parameter.h"

namespace agentr {

enum class Activation { kRelu, kSigmoid };
inline constexpr std::array<NamedValue<Activation>, 2> kActivations = {
    {{"relu", Activation::kRelu}, {"sigmoid", Activation::kSigmoid}}};

class Mlp {
 public:
  // `widths`: of the input, of each inner layer, and of the output. Parameters are called
  // NAME.0.weight, NAME.0.bias, NAME.1.weight, … `type`: float32, which the optimiser needs, or
  // float64 for comparisons.
  Mlp(const std::string& name, const std::vector<int64_t>& widths, Activation activation,
      uint64_t seed, at::ScalarType type = at::kFloat);

  // From now on Backward adds to gradients.
  void Train();

  // x [rows, inputs] -> [rows, outputs]. With `keep`, stores the data for Backward.
  at::Tensor Forward(const at::Tensor& x, bool keep);
  // Takes the gradient of Forward's result, adds to the gradients of the parameters, and returns
  // the gradient of x. Once after each Forward with `keep`.
  at::Tensor Backward(const at::Tensor& dy);

  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  size_t layers() const { return parameters_.size() / 2; }
  at::Tensor Activate(const at::Tensor& x) const;

  const Activation activation_;
  std::vector<Parameter> parameters_;  // weight [outputs, inputs] and bias of each layer
  std::vector<at::Tensor> inputs_;     // of each layer, in the last Forward with `keep`
};

}  // namespace agentr
