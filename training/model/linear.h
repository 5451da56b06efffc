// A linear layer with float32 master weights, the copies that it computes with, and low-rank
// adapters (LoRA: Hu et al. 2021).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "training/parameter.h"

namespace agentr {

// Adds scale * b (a dropout(x)) to the columns of one part of a Linear.
struct Adapter {
  Parameter a;  // [rank, inputs]
  Parameter b;  // [outputs, rank]
  double scale = 1;
  double dropout = 0;  // share of the inputs that are zero, the others growing by 1 / (1 - share)
  uint64_t key = 0;    // of the dropout: another for each adapter
};

class Linear {
 public:
  struct Part {
    std::string name;   // as in the file, without ".weight"
    at::Tensor weight;  // float32 [outputs, inputs]
    at::Tensor bias;    // float32 [outputs]; undefined: none, as then with all parts
  };

  Linear() = default;
  // Layers with the same inputs, computed as one product: their outputs stand side by side.
  explicit Linear(const std::vector<Part>& parts, bool decays = true);

  void Train();  // keeps gradients of weights and biases from now on
  // `part`: which layer. Whoever adds one calls Refresh.
  void AddAdapter(size_t part, Adapter adapter);
  // Brings the copies in `type` up to date with the master weights.
  void Refresh(at::ScalarType type);
  // The same layer without adapters, whose weights contain what they add. This one stays.
  Linear Merged() const;

  // x [rows, inputs] -> [rows, outputs]. `draw`: which dropout; 0: none.
  at::Tensor Forward(const at::Tensor& x, uint64_t draw) const;
  // The gradient of x.
  at::Tensor InputGradient(const at::Tensor& dy, uint64_t draw) const;
  // Adds to the gradients of weights, biases and adapters.
  void AddGradients(const at::Tensor& dy, const at::Tensor& x, uint64_t draw);

  // Every weight and bias, adapters left out; what is frozen has no gradient.
  void AppendWeights(std::vector<Parameter>& all) const;
  void AppendAdapters(std::vector<Parameter>& all) const;

  const at::Tensor& weight() const { return weight_; }      // in the compute type
  const at::Tensor& gradient() const { return gradient_; }  // float32; undefined: frozen
  size_t parts() const { return names_.size(); }
  const std::string& name(size_t part) const { return names_[part]; }
  int64_t inputs() const { return master_.size(1); }
  int64_t outputs(size_t part) const { return ends_[part] - Begin(part); }

 private:
  struct Placed {
    size_t part;
    Adapter adapter;
    at::Tensor a, b;  // in the compute type
  };
  int64_t Begin(size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }
  // The columns of `part` in a matrix [rows, outputs].
  at::Tensor Columns(const at::Tensor& y, size_t part) const {
    return y.narrow(1, Begin(part), outputs(part));
  }

  std::vector<std::string> names_;
  std::vector<int64_t> ends_;  // of the parts' outputs
  bool decays_ = true;
  at::Tensor master_, gradient_, weight_;          // [outputs, inputs]
  at::Tensor bias_, bias_gradient_, narrow_bias_;  // [outputs]; undefined: none
  std::vector<Placed> adapters_;
};

}  // namespace agentr
