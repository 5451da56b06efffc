// Many processes against one: the same steps, whatever is shared out.
#include "training/distributed/sharded_parameters.h"

#include <mutex>

#include "tests/training/batches.h"
#include "tests/training/distributed/thread_group.h"
#include "tests/training/tiny_network.h"
#include "training/model/divergence.h"
#include "training/trainer.h"

namespace agentr {
namespace {

struct Trained {
  std::vector<double> losses, norms;
  std::map<std::string, at::Tensor> values, means, squares;
  TrainingMemory memory;
};

// Three steps on the batches of `of_rank`, as one process of `group`.
Trained Train(Network& network, ProcessGroup* group, int zero,
              const std::vector<std::vector<Batch>>& steps, const std::vector<double>& weights) {
  Trainer trainer(network, {.weight_decay = 0.1}, group, zero);
  Trained result;
  for (size_t s = 0; s < steps.size(); ++s) {
    const StepReport report = trainer.Step(steps[s], weights[s], 1e-2, 0);
    result.losses.push_back(report.sums.Total().loss / report.sums.Total().weight);
    result.norms.push_back(report.gradient_norm);
  }
  result.memory = trainer.memory();
  const CheckpointTensors whole = trainer.Whole();
  for (const Parameter& p : whole.parameters) result.values[p.name] = p.value.clone();
  for (const auto& m : whole.moments) {
    const std::string& name = whole.parameters[m.parameter].name;
    EXPECT_EQ(m.begin, 0);
    result.means[name] = m.mean.clone();
    result.squares[name] = m.square.clone();
  }
  return result;
}

class ShardedTraining : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int kSteps = 3;

  // The batches of each step, and those of rank r of `size`: every size-th, so that ranks have
  // different numbers of them, and with many ranks some have none.
  ShardedTraining() {
    for (int s = 0; s < kSteps; ++s) {
      std::vector<Batch> batches;
      for (int b = 0; b < 5; ++b) {
        batches.push_back(
            MakeBatch(RandomRows(2, 3, 12, 40, static_cast<uint64_t>(10 * s + b)), true));
      }
      double weight = 0;
      for (const Batch& batch : batches) weight += batch.weight();
      steps_.push_back(std::move(batches));
      weights_.push_back(weight);
    }
  }
  std::vector<std::vector<Batch>> Share(int rank, int size) const {
    std::vector<std::vector<Batch>> share;
    for (const auto& batches : steps_) {
      share.emplace_back();
      for (size_t b = static_cast<size_t>(rank); b < batches.size();
           b += static_cast<size_t>(size)) {
        share.back().push_back(batches[b]);
      }
    }
    return share;
  }
  static Network Make() { return TrainedNetwork(GetParam()); }

  std::vector<std::vector<Batch>> steps_;
  std::vector<double> weights_;
};

INSTANTIATE_TEST_SUITE_P(Families, ShardedTraining, ::testing::ValuesIn(TinyFamilies()));

TEST_P(ShardedTraining, TakesTheStepsOfOneProcess) {
  Network alone = Make();
  const Trained one = Train(alone, nullptr, 0, steps_, weights_);
  for (const int size : {2, 3, 7}) {
    for (const int zero : {0, 1, 2}) {
      std::mutex mutex;
      ThreadGroups::Run(size, [&](ProcessGroup& group) {
        Network network = Make();
        const Trained many = Train(network, &group, zero, Share(group.rank(), size), weights_);
        const std::lock_guard lock(mutex);
        SCOPED_TRACE(testing::Message() << size << " processes, zero " << zero);
        for (size_t s = 0; s < one.losses.size(); ++s) {
          EXPECT_NEAR(many.losses[s], one.losses[s], 1e-5);
          EXPECT_NEAR(many.norms[s], one.norms[s], 1e-5 * one.norms[s]);
        }
        for (const auto& [name, value] : one.values) {
          EXPECT_TRUE(at::allclose(many.values.at(name), value, 1e-4, 1e-4)) << name;
        }
        if (zero > 0 && group.rank() > 0) {
          EXPECT_TRUE(many.means.empty());
          return;
        }
        ASSERT_EQ(many.means.size(), one.means.size());
        for (const auto& [name, mean] : one.means) {
          EXPECT_TRUE(at::allclose(many.means.at(name), mean, 1e-3, 1e-6)) << name;
          EXPECT_TRUE(at::allclose(many.squares.at(name), one.squares.at(name), 1e-3, 1e-9))
              << name;
        }
      });
    }
  }
}

TEST_P(ShardedTraining, MemoryFallsWithTheNumberOfProcesses) {
  Network alone = Make();
  const TrainingMemory one = Train(alone, nullptr, 0, {}, {}).memory;
  for (const int size : {2, 4}) {
    for (const int zero : {1, 2}) {
      std::mutex mutex;
      int64_t optimizer = 0;
      ThreadGroups::Run(size, [&](ProcessGroup& group) {
        Network network = Make();
        const TrainingMemory many = Trainer(network, {}, &group, zero).memory();
        const std::lock_guard lock(mutex);
        optimizer += many.optimizer;
        // Spans are whole cache lines: at most 16 values more in each of some buckets.
        const int64_t padding = 16 * 4 * 8;
        EXPECT_NEAR(many.optimizer, one.optimizer / size, 2 * padding * size);
        EXPECT_NEAR(many.gradients, zero == 2 ? one.gradients / size : one.gradients,
                    padding * size);
      });
      EXPECT_EQ(optimizer, one.optimizer);
    }
  }
}

// In all processes at the same step, also in those whose own loss and weights are finite.
TEST_P(ShardedTraining, AStepThatIsNotFiniteEndsAllProcesses) {
  for (const int zero : {0, 1, 2}) {
    ThreadGroups::Run(2, [&](ProcessGroup& group) {
      Network network = Make();
      Trainer trainer(network, {}, &group, zero);
      const auto batches = Share(group.rank(), 2)[0];
      const at::Tensor before = network.weights()[1].value.clone();
      // The gradient of all is infinite, that of no rank alone is by its own doing.
      EXPECT_THROW(trainer.Step(batches, 1e-39, 1e-2, 0), DivergedError);
      EXPECT_TRUE(at::equal(network.weights()[1].value, before));
    });
    ThreadGroups::Run(2, [&](ProcessGroup& group) {
      Network network = Make();
      Trainer trainer(network, {}, &group, zero);
      EXPECT_THROW(trainer.Step(Share(group.rank(), 2)[0], weights_[0], 1e39, 0), DivergedError);
    });
  }
}

// A signal may reach only some of the processes, at any batch.
TEST_P(ShardedTraining, AStepThatOneProcessGivesUpIsGivenUpByAllAndChangesNothing) {
  for (const int zero : {0, 1, 2}) {
    SCOPED_TRACE(zero);
    std::vector<Trained> anew(2), fresh(2);
    for (const bool gives_up : {true, false}) {
      ThreadGroups::Run(2, [&](ProcessGroup& group) {
        Network network = Make();
        Trainer trainer(network, AdamWOptions(), &group, zero);
        const auto share = Share(group.rank(), 2);
        std::atomic<bool> stop = false;
        StepWatch watch{.stop = &stop};
        if (group.rank() == 1) watch.batch_done = [&](size_t, size_t) { stop = true; };
        if (gives_up) {
          EXPECT_TRUE(trainer.Step(share[0], weights_[0], 1e-2, 0, watch).stopped);
          EXPECT_EQ(trainer.optimizer_steps(), 0);
        }
        const StepReport report = trainer.Step(share[0], weights_[0], 1e-2, 0);
        EXPECT_FALSE(report.stopped);
        Trained& result = (gives_up ? anew : fresh)[static_cast<size_t>(group.rank())];
        for (const Parameter& p : trainer.Whole().parameters)
          result.values[p.name] = p.value.clone();
      });
    }
    for (size_t rank = 0; rank < 2; ++rank) {
      for (const auto& [name, value] : fresh[rank].values) {
        EXPECT_TRUE(at::equal(anew[rank].values.at(name), value)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace agentr
