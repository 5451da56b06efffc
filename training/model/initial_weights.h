// The initial weights of a model that is trained from scratch.
//
// Norms are 1 and biases 0. Embeddings are normal with the standard deviation 1 / sqrt(width), so
// that the length of each is about 1. All other weights are normal with sqrt(2 / (5 width)); in the
// two matrices of a layer that add to the residual stream this is divided by twice the number of
// layers, so that initially the stream contains little more than the token. Each tensor draws from
// its own stream (seed, name).
//
// Source: the scale by width is that of Nguyen and Salazar (2019), "Transformers without tears".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lm/weights/model_config.h"
#include "lm/weights/weight_source.h"

namespace agentr {

enum class InitialAttention {
  kRandom,
  kInduction,  // of the first two layers: induction_heads.h
};

class InitialWeights : public WeightSource {
 public:
  // Throws FatalError(kUsage) where `attention` does not go with the shape.
  InitialWeights(const ModelConfig& config, uint64_t seed,
                 InitialAttention attention = InitialAttention::kRandom);

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
