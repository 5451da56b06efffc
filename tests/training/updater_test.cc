// Steps of parameters without a network.
#include "training/updater.h"

#include <gtest/gtest.h>

#include "training/model/divergence.h"

namespace agentr {
namespace {

class UpdaterTest : public ::testing::Test {
 protected:
  void Step(double gradient, double rate) {
    parameter_.gradient.fill_(gradient);
    norm_ = updater_.UpdateFor(1, rate).gradient_norm;
  }
  double value() const { return parameter_.value[0].item<double>(); }

  Parameter parameter_ = {"p", at::ones({4}), at::zeros({4})};
  Updater updater_{{parameter_}, AdamWOptions{}};
  double norm_ = 0;
};

// The first step of Adam goes by the learning rate, whatever the size of the gradient.
TEST_F(UpdaterTest, ClipsAndSteps) {
  Step(0.1, 0.25);
  EXPECT_NEAR(norm_, 0.2, 1e-6);
  EXPECT_NEAR(value(), 0.75, 1e-5);
  EXPECT_EQ(parameter_.gradient.abs().max().item<double>(), 0);
  EXPECT_EQ(updater_.optimizer_steps(), 1);
  const auto mean = [&] { return updater_.Own().moments[0].mean[0].item<double>(); };
  EXPECT_NEAR(mean(), 0.1 * 0.1, 1e-7);
  Step(100, 0.25);
  EXPECT_NEAR(norm_, 200, 1e-3);
  EXPECT_NEAR(mean(), 0.9 * 0.01 + 0.1 * 0.5, 1e-6) << "of the gradient with norm 1";
}

TEST_F(UpdaterTest, ContinuesFromItsTensors) {
  Step(0.1, 0.25);
  Parameter copy = {"p", parameter_.value.clone(), at::zeros({4})};
  Updater other({copy}, AdamWOptions{});
  const CheckpointTensors from = updater_.Whole(), to = other.Own();
  ASSERT_EQ(to.moments.size(), 1u);
  to.moments[0].mean.copy_(from.moments[0].mean);
  to.moments[0].square.copy_(from.moments[0].square);
  other.Continue(1);
  Step(-0.05, 0.1);
  copy.gradient.fill_(-0.05);
  other.UpdateFor(1, 0.1);
  EXPECT_TRUE(at::equal(copy.value, parameter_.value));
  EXPECT_EQ(other.optimizer_steps(), 2);
}

TEST_F(UpdaterTest, EndsAtWhatIsNotFiniteBeforeTheStep) {
  EXPECT_THROW(Step(NAN, 0.1), DivergedError);
  EXPECT_EQ(value(), 1);
  EXPECT_EQ(updater_.optimizer_steps(), 0);
}

}  // namespace
}  // namespace agentr
