// The tiny models of tests/golden/models as networks, and comparisons of gradients.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "training/loss/batch_loss.h"
#include "training/model/lora.h"
#include "training/model/network.h"

namespace agentr {

inline std::filesystem::path TinyModel(const std::string& name) {
  return std::filesystem::path(AGENTR_SOURCE_DIR "/tests/golden/models") / name;
}

inline Network TinyNetwork(const std::string& name, const NetworkOptions& options = {}) {
  const auto folder = TinyModel(name);
  return Network(ReadModelConfig(folder), WeightFiles(folder), options);
}

// One that learns all its weights.
inline Network TrainedNetwork(const std::string& name, const NetworkOptions& options = {}) {
  Network network = TinyNetwork(name, options);
  network.TrainAll();
  return network;
}

inline const std::vector<std::string>& TinyFamilies() {
  static const std::vector<std::string> kNames = {"llama",   "llama_bias", "mistral", "qwen2",
                                                  "qwen3",   "gemma3",     "smollm3", "phi3",
                                                  "granite", "olmo2"};
  return kNames;
}

// The gradients by name, which begin anew.
inline std::map<std::string, at::Tensor> TakeGradients(const Network& network) {
  std::map<std::string, at::Tensor> gradients;
  for (const Parameter& p : network.trained()) {
    gradients[p.name] = p.gradient.clone();
    p.gradient.zero_();
  }
  return gradients;
}

// The loss of batches as one optimiser step, and its gradients.
struct TrainedStep {
  double loss = 0;
  std::map<std::string, at::Tensor> gradients;
};

inline TrainedStep RunStep(Network& network, const std::vector<Batch>& batches,
                           const LossOptions& options = {}, uint64_t draw = 0) {
  double weight = 0;
  for (const Batch& batch : batches) weight += batch.weight();
  TrainedStep result;
  for (const Batch& batch : batches) {
    result.loss += TrainOn(network, batch, 1 / weight, draw, options).Total().loss / weight;
  }
  result.gradients = TakeGradients(network);
  return result;
}

inline void ExpectSameWeights(const Network& a, const Network& b) {
  ASSERT_EQ(a.weights().size(), b.weights().size());
  for (size_t i = 0; i < a.weights().size(); ++i) {
    EXPECT_TRUE(at::equal(a.weights()[i].value, b.weights()[i].value)) << a.weights()[i].name;
  }
}

// Equal up to `tolerance` of the largest value of each gradient.
inline void ExpectSame(const TrainedStep& a, const TrainedStep& b, double loss_tolerance = 1e-6,
                       double tolerance = 1e-5) {
  EXPECT_NEAR(a.loss, b.loss, loss_tolerance * std::max(1.0, std::abs(b.loss)));
  ASSERT_EQ(a.gradients.size(), b.gradients.size());
  for (const auto& [name, gradient] : b.gradients) {
    const double most = gradient.abs().max().item<double>();
    ASSERT_GT(most, 0) << name;
    const double apart = (a.gradients.at(name) - gradient).abs().max().item<double>();
    EXPECT_LE(apart, tolerance * most) << name;
  }
}

}  // namespace agentr
