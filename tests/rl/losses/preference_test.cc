#include "rl/losses/preference.h"

#include <gtest/gtest.h>

#include <cmath>

namespace agentr {
namespace {

TEST(DpoLoss, IsTheLogisticLossOfTheMargin) {
  const ResponseLogprob chosen{-3, -4, 5}, rejected{-6, -5.5, 2};
  const PairLoss pair = DpoLoss(chosen, rejected, {.beta = 0.5});
  const double margin = 0.5 * ((-3 + 4) - (-6 + 5.5));
  EXPECT_NEAR(pair.margin, margin, 1e-12);
  EXPECT_NEAR(pair.loss, std::log(1 + std::exp(-margin)), 1e-12);
}

TEST(DpoLoss, IsLnTwoForThePolicyBeforeTraining) {
  const PairLoss pair = DpoLoss({-3, -3, 5}, {-9, -9, 2}, {});
  EXPECT_NEAR(pair.loss, std::log(2), 1e-12);
  EXPECT_NEAR(pair.d_chosen, -0.05, 1e-12);  // beta / 2
  EXPECT_NEAR(pair.d_rejected, 0.05, 1e-12);
}

TEST(DpoLoss, LengthNormalisationUsesMeans) {
  const PairLoss pair = DpoLoss({-10, -14, 4}, {-9, -6, 3}, {.beta = 2, .length_normalized = true});
  EXPECT_NEAR(pair.margin, 2 * (4.0 / 4 + 3.0 / 3), 1e-12);
}

TEST(DpoLoss, LikelihoodAddsTheMeanLossOfTheChosenTokens) {
  const double without = DpoLoss({-10, -14, 4}, {-9, -6, 3}, {.beta = 2}).loss;
  EXPECT_NEAR(DpoLoss({-10, -14, 4}, {-9, -6, 3}, {.beta = 2, .likelihood = 0.5}).loss,
              without + 0.5 * 10 / 4, 1e-12);
}

TEST(DpoLoss, DerivativesAreFiniteDifferences) {
  constexpr double kStep = 1e-6;
  for (const bool normalized : {false, true}) {
    const DpoOptions options{.beta = 0.7, .length_normalized = normalized, .likelihood = 0.4};
    for (const double apart : {-8.0, -0.3, 0.0, 2.0, 9.0}) {
      const auto loss = [&](double chosen, double rejected) {
        return DpoLoss({-5 + apart + chosen, -5, 3}, {-7 + rejected, -6, 2}, options).loss;
      };
      const PairLoss pair = DpoLoss({-5 + apart, -5, 3}, {-7, -6, 2}, options);
      EXPECT_NEAR(pair.d_chosen, (loss(kStep, 0) - loss(-kStep, 0)) / (2 * kStep), 1e-8);
      EXPECT_NEAR(pair.d_rejected, (loss(0, kStep) - loss(0, -kStep)) / (2 * kStep), 1e-8);
    }
  }
}

TEST(DpoLoss, StaysFiniteForPoliciesFarApart) {
  EXPECT_NEAR(DpoLoss({-2000, 0, 1}, {0, 0, 1}, {.beta = 1}).loss, 2000, 1e-9);
  EXPECT_EQ(DpoLoss({0, -2000, 1}, {0, 0, 1}, {.beta = 1}).loss, 0);
  EXPECT_EQ(DpoLoss({-2000, 0, 1}, {0, 0, 1}, {.beta = 1}).d_chosen, -1);
}

}  // namespace
}  // namespace agentr
