// One optimiser step after the other: micro-batches to gradients, clipping, AdamW.
#pragma once

#include <cstdint>
#include <vector>

#include "training/checkpoint/checkpoint.h"
#include "training/loss/batch_loss.h"
#include "training/model/network.h"
#include "training/optim/adamw.h"

namespace agentr {

// What a step has done.
struct StepReport {
  LossSums sums;
  double gradient_norm = 0;
  bool skipped = false;    // loss or gradient were not finite: nothing has changed
  int64_t row_tokens = 0;  // of all rows, one by one
  int64_t tokens = 0;      // distinct ones, which were computed
  double flops = 0;        // of all matrix products, forward and backward, each counted once
};

class Trainer {
 public:
  // `network` outlives it, and has its gradients already (TrainAll, TrainAdapters).
  Trainer(Network& network, const AdamWOptions& options);

  // `weight`: of the targets of the whole step. `draw`: of dropout; another for each step.
  StepReport Step(const std::vector<Batch>& batches, double weight, double learning_rate,
                  uint64_t draw);
  LossSums HeldOut(const std::vector<Batch>& batches);

  CheckpointTensors tensors() const;
  int64_t optimizer_steps() const { return optimizer_.steps(); }
  // After the tensors were overwritten.
  void Continue(int64_t optimizer_steps);

 private:
  Network& network_;
  AdamW optimizer_;
};

// Operations of forward and backward over `batch`, recomputation not counted.
double FlopsOf(const ModelConfig& config, const Batch& batch, bool trains_weights);

}  // namespace agentr
