// One optimiser step after the other: micro-batches to gradients, clipping, AdamW; in one process,
// or as one of many that each have some of a step's micro-batches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "training/checkpoint/checkpoint.h"
#include "training/distributed/process_group.h"
#include "training/distributed/sharded_parameters.h"
#include "training/loss/batch_loss.h"
#include "training/model/network.h"
#include "training/optim/adamw.h"

namespace agentr {

// What a step has done, in all processes together.
struct StepReport {
  LossSums sums;
  double gradient_norm = 0;
  bool skipped = false;    // loss or gradient were not finite: nothing has changed
  int64_t row_tokens = 0;  // of all rows, one by one
  int64_t tokens = 0;      // distinct ones, which were computed
  double flops = 0;        // of all matrix products, forward and backward, each counted once
};

// What a process holds for the training of the weights, counted in bytes.
struct TrainingMemory {
  int64_t optimizer = 0;  // moments
  int64_t gradients = 0;
  int64_t exchange = 0;  // besides, at most, while gradients are on their way
};

class Trainer {
 public:
  // `network` outlives it, and has its gradients already (TrainAll, TrainAdapters). `group`: of the
  // job's processes, whose methods below are then called by all of them together; null: there is
  // this one alone. `zero`: what is shared out (sharded_parameters.h): 0, 1 or 2.
  Trainer(Network& network, const AdamWOptions& options, ProcessGroup* group = nullptr,
          int zero = 0);

  // `batches`: of this process. `weight`: of the targets of the whole step. `draw`: of dropout;
  // another for each step.
  StepReport Step(const std::vector<Batch>& batches, double weight, double learning_rate,
                  uint64_t draw);
  LossSums HeldOut(const std::vector<Batch>& batches);

  // To be saved: whole, but with moments only in rank 0.
  CheckpointTensors Whole() const;
  // To be overwritten by a checkpoint, by this process alone; Continue follows.
  CheckpointTensors Own() const;
  void Continue(int64_t optimizer_steps);

  int64_t optimizer_steps() const { return optimizer_.steps(); }
  TrainingMemory memory() const;

 private:
  size_t Passes(size_t batches) const;
  void AddUp(StepReport& report) const;
  double GradientNorm() const;

  Network& network_;
  ProcessGroup* const group_;
  const int zero_;
  std::unique_ptr<ShardedParameters> shards_;  // where there is a group
  AdamW optimizer_;
};

// Operations of forward and backward over `batch`, recomputation not counted.
double FlopsOf(const ModelConfig& config, const Batch& batch, bool trains_weights);

}  // namespace agentr
