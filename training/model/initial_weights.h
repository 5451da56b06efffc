// The initial weights of a model that is trained from scratch.
//
// Norms are 1 and biases 0. All other weights are normal with the standard deviation sqrt(2 / (5
// width)), and the two matrices of a layer that add to the residual stream with that over sqrt(2
// layers), so that its variance does not grow with depth. Each tensor draws from its own stream
// (seed, name).
//
// Sources: the scale by width is that of Nguyen and Salazar (2019); the scale by depth is that of
// GPT-2 (Radford et al. 2019, section 2.3).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lm/weights/model_config.h"
#include "lm/weights/weight_source.h"

namespace agentr {

class InitialWeights : public WeightSource {
 public:
  InitialWeights(const ModelConfig& config, uint64_t seed);

  const std::map<std::string, Weight>& weights() const override { return weights_; }
  const std::string& name() const override { return name_; }
  bool immutable() const override { return true; }

 private:
  void Add(const std::string& name, std::vector<float> values, std::vector<int64_t> shape);
  void AddConstant(const std::string& name, int64_t size, float value);
  void AddLinear(const std::string& name, int64_t outputs, int64_t inputs, double deviation,
                 bool bias);
  void AddLayer(const ModelConfig& config, const std::string& at, double deviation);

  const std::string name_ = "random weights";
  const uint64_t seed_;
  std::map<std::string, std::vector<float>> values_;
  std::map<std::string, Weight> weights_;  // views into values_
};

}  // namespace agentr
