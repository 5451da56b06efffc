// The network of the symbolic baseline: against tests/golden/rl/symbolic_network.json (PyTorch,
// float64), and what it begins with.
#include "rl/networks/symbolic_network.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/training/golden_losses.h"

namespace agentr {
namespace {

using at::Tensor;
using golden_losses::ExpectNear;
using golden_losses::Fill;
using nlohmann::json;

// A network, its parameters filled as scripts/golden/symbolic_network.py does.
SymbolicNetwork FilledNetwork() {
  SymbolicNetwork network(/*actions=*/6, /*seed=*/1);
  std::map<std::string, Tensor> named;
  for (const Parameter& p : network.parameters()) named[p.name] = p.value.detach();
  int n = 0;
  for (auto& [name, value] : named) {
    const bool norm = name.find("norm") != std::string::npos;
    const auto inputs = static_cast<double>(value.dim() > 1 ? value.numel() / value.size(0)
                                                            : SymbolicNetwork::kWidth);
    const double scale = norm ? 0.1 : name == "embedding.weight" ? 1 : 1 / std::sqrt(inputs);
    value.copy_(Fill(value.sizes(), 0.7, n++, scale));
    if (norm && name.ends_with("weight")) value.add_(1);
  }
  return network;
}

Tensor Images(int step) { return (4 + Fill({3, 3, 7, 7}, 0.37, step, 4)).round().to(at::kFloat); }

Tensor Missions() {
  return golden_losses::Longs({3, 1, 4, 1, 5, 0, 2, 7, 0, 0, 0, 0, 3, 1, 4, 1, 5, 0}).view({3, 6});
}

Tensor NoMemory() { return at::zeros({3, SymbolicNetwork::kMemory}, at::kFloat); }

void ExpectOutput(const SymbolicNetwork::Output& output, const json& golden) {
  ExpectNear(output.scores, golden.at("scores"), 1e-4);
  ExpectNear(output.values, golden.at("values"), 1e-4);
  ExpectNear(output.memory.slice(1, 0, c10::nullopt, 32), golden.at("memory"), 1e-4);
}

TEST(SymbolicNetwork, StepsGradientsAndStatisticsArePyTorchs) {
  const json golden =
      json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/rl/symbolic_network.json"));
  const SymbolicNetwork network = FilledNetwork();
  Tensor memory = NoMemory(), total = at::zeros({}, at::kFloat);
  for (int step = 0; step < 2; ++step) {
    const SymbolicNetwork::Output output = network.Forward(
        Images(step), network.ReadMissions(Missions()), memory, /*batch_statistics=*/true);
    ExpectOutput(output, golden.at("steps")[static_cast<size_t>(step)]);
    total = total + (output.scores * Fill({3, 6}, 0.5, 1).to(at::kFloat)).sum() +
            output.values.square().sum();
    memory = output.memory * golden_losses::Doubles({1, 0, 1}).to(at::kFloat).unsqueeze(1);
  }
  (total + memory.sum()).backward();
  ASSERT_EQ(golden.at("gradient_norms").size(), network.parameters().size());
  for (const Parameter& p : network.parameters()) {
    const auto norm = golden.at("gradient_norms").at(p.name).get<double>();
    EXPECT_NEAR(p.gradient.norm().item<double>(), norm, 2e-3 * std::max(0.5, norm)) << p.name;
  }
  for (const Parameter& p : network.statistics()) {
    const auto norm = golden.at("statistics").at(p.name).get<double>();
    EXPECT_NEAR(p.value.norm().item<double>(), norm, 1e-4 * norm) << p.name;
  }
  const c10::NoGradGuard no_gradients;
  ExpectOutput(network.Forward(Images(0), network.ReadMissions(Missions()), NoMemory(),
                               /*batch_statistics=*/false),
               golden.at("evaluation"));
}

TEST(SymbolicNetwork, HasTheShapesAndBeginsAsItShould) {
  const SymbolicNetwork network(6, 1), same(6, 1), other(6, 2);
  const SymbolicNetwork::Output output =
      network.Forward(Images(0), network.ReadMissions(Missions()), NoMemory(), true);
  EXPECT_EQ(output.scores.sizes(), at::IntArrayRef({3, 6}));
  EXPECT_EQ(output.values.sizes(), at::IntArrayRef({3}));
  EXPECT_EQ(output.memory.sizes(), at::IntArrayRef({3, 256}));
  (output.scores.square().sum() + output.values.square().sum()).backward();
  // A norm subtracts what these add; the memory was 0.
  const std::set<std::string> no_gradient = {
      "image.0.bias",      "image.1.bias",      "film.0.first.bias", "film.1.first.bias",
      "film.0.shift.bias", "film.1.shift.bias", "lstm.weight_hh"};
  const auto is_linear = [](const std::string& name) {
    return name.starts_with("actor") || name.starts_with("critic") ||
           name.find(".scale.") != std::string::npos || name.find(".shift.") != std::string::npos;
  };
  for (size_t i = 0; i < network.parameters().size(); ++i) {
    const Parameter& p = network.parameters()[i];
    EXPECT_TRUE(p.value.equal(same.parameters()[i].value)) << p.name;
    const bool linear = is_linear(p.name), bias = p.name.ends_with("bias");
    const bool drawn = p.name.find("norm") == std::string::npos && !(linear && bias);
    EXPECT_EQ(p.value.equal(other.parameters()[i].value), !drawn) << p.name;
    const bool none = p.gradient.abs().max().item<float>() < 1e-5;
    EXPECT_EQ(none, no_gradient.contains(p.name)) << p.name;
    if (!linear) continue;
    const Tensor value = p.value.detach();
    const Tensor off = bias ? value : value.norm(2, 1) - 1;
    EXPECT_LT(off.abs().max().item<float>(), 1e-6) << p.name;
  }
}

// Running averages change where they are made, and only there.
TEST(SymbolicNetwork, EvaluationLeavesTheStatistics) {
  const SymbolicNetwork network(6, 1);
  const c10::NoGradGuard no_gradients;
  const auto forward = [&](bool batch_statistics) {
    return network.Forward(Images(0), network.ReadMissions(Missions()), NoMemory(),
                           batch_statistics);
  };
  const Tensor& mean = network.statistics().front().value;
  const Tensor before = mean.clone();
  const Tensor scores = forward(false).scores;
  EXPECT_TRUE(mean.equal(before));
  EXPECT_FALSE(forward(true).scores.equal(scores));
  EXPECT_FALSE(mean.equal(before));
}

}  // namespace
}  // namespace agentr
