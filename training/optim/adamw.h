// AdamW with decoupled weight decay (Loshchilov and Hutter 2019) on float32 parameters, with
// PyTorch's order of operations, and clipping by the global norm.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "training/parameter.h"

namespace agentr {

class OptionSet;

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // weight decay of parameters that decay
  double max_norm = 1;      // largest norm of the gradient; 0: no clipping
};

// Declares --adam_beta1, --adam_beta2, --adam_epsilon, --weight_decay and --max_grad_norm.
void Declare(OptionSet& set, AdamWOptions& options);
// Throws FatalError(kUsage) for a weight decay that cannot work with the largest learning rate,
// which is that of the option `rate`.
void Check(const AdamWOptions& options, double learning_rate, std::string_view rate = "--lr");

class AdamW {
 public:
  AdamW(std::vector<Parameter> parameters, const AdamWOptions& options);

  // The norm of all gradients together. Not finite if any value is not.
  double GradientNorm() const;
  // Clips the gradients, whose norm is `norm`, makes a step, and sets the gradients to 0.
  void Step(double learning_rate, double norm);

  // The state that a continuation needs in addition to the parameters, by their names.
  struct Moments {
    at::Tensor mean, square;  // the shape of the parameter
  };
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<Moments>& moments() const { return moments_; }
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }

 private:
  const AdamWOptions options_;
  std::vector<Parameter> parameters_;
  std::vector<Moments> moments_;
  int64_t steps_ = 0;
};

}  // namespace agentr
