#include "training/model/linear.h"

#include "tests/training/golden_losses.h"

namespace agentr {
namespace {

using namespace golden_losses;

// y = x (W + 2 B A)ᵀ and the gradients of mean(y²), all in float64.
TEST(Linear, AdaptersAreThoseOfTheGolden) {
  const json& golden = GoldenLosses()["lora"];
  Linear layer({{"layer", Fill({4, 3}, 0.8, 0.1), {}}});
  Adapter adapter;
  adapter.a = {"a", Fill({2, 3}, 1.9, 0.3, 0.5), {}};
  adapter.b = {"b", Fill({4, 2}, 1.1, 0.7, 0.5), {}};
  adapter.scale = 2;
  layer.AddAdapter(0, adapter);
  std::vector<Parameter> adapters;
  layer.AppendAdapters(adapters);
  layer.Refresh(at::kDouble);
  const Tensor x = Fill({5, 3}, 0.33, 0.2);
  const Tensor y = layer.Forward(x, /*draw=*/0);
  ExpectNear(y, golden["y"]);
  ExpectNear(y.square().mean(), golden["loss mean(y^2)"]);
  layer.AddGradients(y * (2.0 / 20), x, /*draw=*/0);
  ExpectNear(adapters[0].gradient, golden["grad_A"]);
  ExpectNear(adapters[1].gradient, golden["grad_B"]);
  Linear merged = layer.Merged();
  merged.Refresh(at::kDouble);
  ExpectNear(merged.weight(), golden["merged_W"]);
  ExpectNear(merged.Forward(x, 0), golden["y"]);
}

}  // namespace
}  // namespace agentr
