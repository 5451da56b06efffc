// The end of a training whose numbers are no longer finite.
#include "training/trainer.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>

#include "tests/common/fatal_error.h"
#include "tests/training/batches.h"
#include "tests/training/tiny_network.h"
#include "training/model/divergence.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DivergedTraining : public ::testing::Test {
 protected:
  void Step(Trainer& trainer, double learning_rate) const {
    trainer.Step({batch_}, batch_.weight(), learning_rate, 0);
  }

  const Batch batch_ = MakeBatch(RandomRows(2, 4, 12, 40, 3), true);
  Network network_ = TrainedNetwork("llama");
};

// A signal need not wait for the end of a large step, and the step can be made anew.
TEST_F(DivergedTraining, AStepThatIsGivenUpChangesNothing) {
  Network other = TrainedNetwork("llama");
  Trainer trainer(network_, {}), fresh(other, {});
  const std::atomic<bool> stop = true;
  const StepReport given_up =
      trainer.Step({batch_, batch_}, 2 * batch_.weight(), 1e-3, 0, {.stop = &stop});
  EXPECT_TRUE(given_up.stopped);
  EXPECT_EQ(trainer.optimizer_steps(), 0);
  trainer.Step({batch_, batch_}, 2 * batch_.weight(), 1e-3, 0);
  fresh.Step({batch_, batch_}, 2 * batch_.weight(), 1e-3, 0);
  ExpectSameWeights(network_, other);
  EXPECT_FALSE(trainer.Step({batch_}, batch_.weight(), 1e-3, 0, {.stop = &stop}).stopped)
      << "at its end";
}

TEST_F(DivergedTraining, AStepTellsHowFarItIs) {
  Trainer trainer(network_, {});
  std::vector<std::pair<size_t, size_t>> told;
  trainer.Step({batch_, batch_, batch_}, 3 * batch_.weight(), 1e-3, 0,
               {.batch_done = [&](size_t done, size_t of) { told.emplace_back(done, of); }});
  EXPECT_EQ(told, (std::vector<std::pair<size_t, size_t>>{{1, 3}, {2, 3}, {3, 3}}));
}

TEST_F(DivergedTraining, ALossOrAGradientThatIsNotFiniteEndsItBeforeTheStep) {
  Trainer trainer(network_, {});
  Step(trainer, 1e-3);
  const at::Tensor before = network_.weights()[1].value.clone();
  EXPECT_THAT(FatalErrorOf<DivergedError>([&] { trainer.UpdateFor(NAN, 1e-3); }),
              AllOf(HasSubstr("optimiser step 2, with --lr at 0.001: the loss is nan"),
                    HasSubstr("a lower --lr")));
  network_.trained()[1].gradient.view({-1})[3] = INFINITY;
  EXPECT_THAT(FatalErrorOf<DivergedError>([&] { trainer.UpdateFor(1, 1e-3); }),
              HasSubstr("the loss is 1 and the norm of its gradient inf"));
  EXPECT_TRUE(at::equal(network_.weights()[1].value, before));
  EXPECT_EQ(trainer.optimizer_steps(), 1);
}

TEST_F(DivergedTraining, AWeightThatIsNotFiniteEndsIt) {
  Trainer trainer(network_, {});
  EXPECT_THAT(FatalErrorOf<DivergedError>([&] { Step(trainer, 1e39); }),
              AllOf(HasSubstr("optimiser step 1, with --lr at 1e+39: after it "),
                    HasSubstr("values of model.embed_tokens.weight")));
}

// As a decay of 1 would make it: what no option may be.
TEST_F(DivergedTraining, AMeanWithoutCorrectionToo) {
  Trainer trainer(network_, {.beta1 = 1});
  EXPECT_THAT(FatalErrorOf<DivergedError>([&] { Step(trainer, 1e-3); }),
              HasSubstr("are not finite"));
}

TEST_F(DivergedTraining, AHeadBesideTheNetworkToo) {
  const Parameter head = {"head", at::ones({4}), at::ones({4})};
  Trainer trainer(network_, {}, {head}, nullptr, "--critic_lr");
  head.value[2] = NAN;
  EXPECT_THAT(FatalErrorOf<DivergedError>([&] { trainer.UpdateFor(1, 1e-3); }),
              AllOf(HasSubstr("1 of the 4 values of head are not finite"),
                    HasSubstr("a lower --critic_lr")));
}

TEST_F(DivergedTraining, AModelThatNoLongerAnswersIsNotSaved) {
  for (const double rate : {1e7, 1e15, 1e25, 1e32}) {  // the weights themselves stay finite
    Network network = TrainedNetwork("llama");
    Trainer trainer(network, {});
    trainer.CheckAnswer();
    Step(trainer, 1e-3);
    trainer.CheckAnswer();
    Step(trainer, rate);
    EXPECT_THAT(FatalErrorOf<DivergedError>([&] { trainer.CheckAnswer(); }),
                HasSubstr("after optimiser step 2 the weights are finite, but so large"))
        << rate;
  }
}

}  // namespace
}  // namespace agentr
