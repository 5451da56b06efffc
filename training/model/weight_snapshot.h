// The weights of a network at one moment, in the type of the export: for a file, or for an engine
// that plays with them during the training.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>
#include <vector>

#include "lm/weights/weight_source.h"
#include "training/parameter.h"

namespace agentr {

// Owns its bytes, so later changes of the parameters do not affect it.
class WeightSnapshot : public WeightSource {
 public:
  // `type`: kF32 or kBF16. Throws FatalError(kIncomplete) for a value that is not finite in this
  // type (EndDiverged): a finite weight may become so by its adapter or by rounding.
  WeightSnapshot(std::string name, const std::vector<Parameter>& parameters, WeightType type);

  const std::map<std::string, Weight>& weights() const override { return weights_; }
  const std::string& name() const override { return name_; }
  bool immutable() const override { return true; }
  WeightType type() const { return type_; }

 private:
  const std::string name_;
  const WeightType type_;
  std::vector<at::Tensor> tensors_;
  std::map<std::string, Weight> weights_;  // views into tensors_
};

}  // namespace agentr
