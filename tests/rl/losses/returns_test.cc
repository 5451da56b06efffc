// Returns, advantages and selections: against tests/golden/rl/losses.json (PyTorch, float64).
#include "rl/losses/returns.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/training/golden_losses.h"

namespace agentr {
namespace {

using at::Tensor;
using nlohmann::json;
using namespace golden_losses;

TEST(Returns, GeneralizedAdvantages) {
  const json& g = GoldenLosses()["gae"];
  GaeInput in;
  in.rewards = Vector(g["rewards"]).view({5, 2});
  in.done = Vector(g["done_after_step"]).view({5, 2});
  in.values = Fill({5, 2}, 0.8, 0.2, 2);
  in.bootstrap = Vector(g["bootstrap"]);
  const Advantages result = GeneralizedAdvantages(in);
  ExpectNear(result.advantages, g["advantages"]);
  ExpectNear(result.returns, g["returns"]);
  ExpectNear(result.advantages.t(), g["flat_env_major_advantages"]);
}

TEST(Returns, NormalizedAdvantages) {
  ExpectNear(NormalizedAdvantages(Doubles({1, 3, 1, 3})), json{-1, 1, -1, 1}, 1e-7);
  ExpectNear(NormalizedAdvantages(Doubles({5})), json{0});
  ExpectNear(NormalizedAdvantages(Doubles({-2, -2})), json{0, 0});
}

TEST(Returns, ExplainedVariance) {
  const Tensor returns = Doubles({1, 2, 3, 6});
  EXPECT_EQ(ExplainedVariance(returns + 4, returns), 1);
  EXPECT_EQ(ExplainedVariance(at::full({4}, 3.0, at::kDouble), returns), 0);
  EXPECT_EQ(ExplainedVariance(-returns, returns), -3);
  EXPECT_EQ(ExplainedVariance(returns, at::ones({4}, at::kDouble)), 0);
}

TEST(Returns, Selections) {
  const auto expect = [](const Selection& selection, const json& golden, const char* indices) {
    EXPECT_EQ(json(selection.kept), golden[indices]);
    if (golden.contains("cutoff")) ExpectNear(selection.cutoff, golden["cutoff"]);
  };
  const json &mixed = GoldenLosses()["filtered_bc_quantile_mixed"],
             &ties = GoldenLosses()["filtered_bc_quantile_ties"],
             &top = GoldenLosses()["offline_filter_top"];
  expect(KeepByQuantile(Flat(mixed["returns"]), 0.1), mixed, "kept_indices");
  expect(KeepByQuantile(Flat(ties["returns"]), 0.1), ties, "kept_indices");
  expect(KeepTop(Flat(top["returns"]), top["fraction"]), top, "kept_indices_in_order");
}

TEST(Returns, BestSamples) {
  const json& g = GoldenLosses()["chai_select"];
  const Tensor q1 = Fill({5, 4}, 0.77, 0.4), q2 = Fill({5, 4}, 0.61, 1.3);
  const Tensor best = BestSamples(q1, q2);
  ExpectNear(best, g["argmax_sample_per_state"], 0);
  ExpectNear(at::minimum(q1, q2).gather(0, best.unsqueeze(0)), g["values"]);
  const Tensor equal = at::zeros({3, 1}, at::kDouble);
  EXPECT_EQ(BestSamples(equal, equal).item<int64_t>(), 0);
}

TEST(Returns, PolyakAverage) {
  const json& g = GoldenLosses()["polyak"];
  const Tensor online = Fill({4}, 1.1, 2);
  const auto after = [&](double tau, int times) {
    const Parameter target{"t", Fill({4}, 1.1, 0), {}};
    for (int i = 0; i < times; ++i) Polyak({target}, {{"o", online, {}}}, tau);
    return target.value;
  };
  ExpectNear(after(0.1, 1), g["tau_0.1"], 1e-12);
  ExpectNear(after(0.05, 1), g["tau_0.05"], 1e-12);
  ExpectNear(after(0.1, 3), g["tau_0.1_three_times"], 1e-12);
}

}  // namespace
}  // namespace agentr
