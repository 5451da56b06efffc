// A linear layer with float32 master weights, copies of them in the compute type, and low-rank
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
  double dropout = 0;  // share of the inputs that become zero; the others are multiplied by 1 / (1
                       // - share)
  uint64_t key = 0;    // key of the dropout, different for each adapter
};

class Linear {
 public:
  struct Part {
    std::string name;   // name in the file, without ".weight"
    at::Tensor weight;  // float32 [outputs, inputs]
    at::Tensor bias;    // float32 [outputs]; undefined in all parts if there is none
  };

  Linear() = default;
  // Layers with the same inputs, computed as one product with concatenated outputs.
  explicit Linear(const std::vector<Part>& parts, bool decays = true);

  void Train();  // from now on gradients of weights and biases are computed
  // Adds an adapter to the layer `part`. The caller must then call Refresh.
  void AddAdapter(size_t part, Adapter adapter);
  // Updates the copies in `type` from the master weights.
  void Refresh(at::ScalarType type);
  // A copy of the layer without adapters, with their contribution added to its weights.
  Linear Merged() const;

  // x [rows, inputs] -> [rows, outputs]. `draw`: number of the dropout draw; 0: none.
  at::Tensor Forward(const at::Tensor& x, uint64_t draw) const;
  // The gradient of x.
  at::Tensor InputGradient(const at::Tensor& dy, uint64_t draw) const;
  // Adds to the gradients of weights, biases and adapters.
  void AddGradients(const at::Tensor& dy, const at::Tensor& x, uint64_t draw);

  // All weights and biases without adapters; frozen ones have no gradient.
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
  std::vector<int64_t> ends_;  // ends of the parts' outputs
  bool decays_ = true;
  at::Tensor master_, gradient_, weight_;          // [outputs, inputs]
  at::Tensor bias_, bias_gradient_, narrow_bias_;  // [outputs]; undefined: none
  std::vector<Placed> adapters_;
};

}  // namespace agentr
