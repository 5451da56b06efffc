#include "training/loss/linear_cross_entropy.h"

#include "tests/training/finite_difference.h"

namespace agentr {
namespace {

using at::Tensor;

// Two positions, the second of which has two next tokens.
std::vector<Target> Targets() {
  return {{2, 1, 1, TargetKind::kGood},
          {5, 0, 2, TargetKind::kRevision},
          {5, 3, 0.5, TargetKind::kGood}};
}

TEST(LinearCrossEntropy, IsTheSumOfWeightedLogarithms) {
  const Tensor hidden = RandomTensor({2, 6}, 1), weight = RandomTensor({5, 6}, 2);
  const Tensor logs = at::log_softmax(at::mm(hidden, weight.t()), -1);
  const auto ln = [&](int64_t row, int64_t token) { return logs[row][token].item<double>(); };
  const LossSums sums = LinearCrossEntropy(hidden, weight, Targets(), 1, {}, {});
  EXPECT_NEAR(sums.Total().loss, -ln(0, 1) - 2 * ln(1, 0) - 0.5 * ln(1, 3), 1e-5);
  EXPECT_DOUBLE_EQ(sums.Total().weight, 3.5);
  const auto& good = sums.kinds[static_cast<size_t>(TargetKind::kGood)];
  EXPECT_NEAR(good.loss, -ln(0, 1) - 0.5 * ln(1, 3), 1e-5);
  const auto best = logs.argmax(-1);
  const double correct =
      (best[0].item<int64_t>() == 1 ? 1 : 0) + (best[1].item<int64_t>() == 3 ? 0.5 : 0);
  EXPECT_DOUBLE_EQ(good.correct, correct);
  LossSums twice = sums;
  twice += sums;
  EXPECT_DOUBLE_EQ(twice.Total().loss, 2 * sums.Total().loss);
}

TEST(LinearCrossEntropy, GradientsAreThoseOfTheLossInChunksToo) {
  for (const int64_t chunk : {1, 1000}) {
    const Tensor hidden = RandomTensor({2, 6}, 1), weight = RandomTensor({5, 6}, 2);
    const Tensor dhidden = at::empty_like(hidden), dweight = at::zeros_like(weight);
    const double factor = 0.7;
    LinearCrossEntropy(hidden, weight, Targets(), factor, dhidden, dweight, {chunk});
    const auto loss = [&] {
      return factor * LinearCrossEntropy(hidden, weight, Targets(), 1, {}, {}).Total().loss;
    };
    ExpectGradient(hidden, dhidden, loss);
    ExpectGradient(weight, dweight, loss);
  }
}

TEST(LinearCrossEntropy, ATargetWithoutALogitIsRefused) {
  const Tensor hidden = RandomTensor({2, 6}, 1), weight = RandomTensor({3, 6}, 2);
  EXPECT_THROW(LinearCrossEntropy(hidden, weight, Targets(), 1, {}, {}), c10::Error);
}

// Logits far apart: no overflow, and a loss that is right.
TEST(LinearCrossEntropy, LogitsFarApart) {
  const Tensor hidden = at::ones({1, 1}), weight = at::tensor({300.0f, -300.0f}).view({2, 1});
  const Tensor dhidden = at::empty_like(hidden);
  const auto sums = LinearCrossEntropy(hidden, weight, {{0, 1, 1}}, 1, dhidden, {});
  EXPECT_NEAR(sums.Total().loss, 600, 1e-3);
  EXPECT_NEAR(dhidden.item<double>(), 600, 1e-3);
}

}  // namespace
}  // namespace agentr
