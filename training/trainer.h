// Makes optimiser steps: gradients of micro-batches, clipping, AdamW. It runs in one process, or in
// many that each have some of a step's micro-batches or rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "training/checkpoint/checkpoint.h"
#include "training/distributed/process_group.h"
#include "training/distributed/sharded_parameters.h"
#include "training/loss/batch_loss.h"
#include "training/model/network.h"
#include "training/optim/adamw.h"

namespace agentr {

// The results of a step, over all processes.
struct StepReport {
  LossSums sums;
  double gradient_norm = 0;
  int64_t row_tokens = 0;  // tokens of all rows, without sharing
  int64_t tokens = 0;      // distinct tokens, which were computed
  double flops = 0;        // operations of all matrix products, forward and backward, without
                           // recomputation
};

// The memory of a process for training the weights, in bytes.
struct TrainingMemory {
  int64_t optimizer = 0;  // moments
  int64_t gradients = 0;
  int64_t exchange = 0;  // largest additional memory while gradients are exchanged
};

class Trainer {
 public:
  // `network` outlives it, and has its gradients already (TrainAll, TrainAdapters). `group`: of the
  // job's processes, whose methods below are then called by all of them together; null: there is
  // this one alone. `zero`: what is shared out (sharded_parameters.h): 0, 1 or 2.
  Trainer(Network& network, const AdamWOptions& options, ProcessGroup* group = nullptr,
          int zero = 0);
  // For learning from reward. `heads`: parameters beside the network, whose gradients the caller
  // adds up. In a group every process has all of the heads' gradient and its share of the network's
  // (rl/losses/shared_pass.h); Update adds up the shares. `rate`: the option of the learning
  // rate, for messages.
  Trainer(Network& network, const AdamWOptions& options, std::vector<Parameter> heads,
          ProcessGroup* group, std::string rate = "--lr");
  // For a model that is not a Network (symbolic_ppo): only Update, Whole, Own and Continue may be
  // called.
  Trainer(std::vector<Parameter> parameters, const AdamWOptions& options);

  // `batches`: of this process. `weight`: of the targets of the whole step. `draw`: of dropout;
  // another for each step. Throws like Update.
  StepReport Step(const std::vector<Batch>& batches, double weight, double learning_rate,
                  uint64_t draw);
  // The last part of a step, for a caller that has added up the gradients itself: clips and makes
  // the step. Ends the run, in all processes, if the loss in `report`, the norm of the gradients or
  // a weight after the step is not finite (EndDiverged).
  void Update(StepReport& report, double learning_rate);
  // Ends the run in the same way if the network can no longer tell how probable a token is: weights
  // that are finite but too large are as bad, and after the last step no other would show it.
  void CheckAnswer() const;
  LossSums HeldOut(const std::vector<Batch>& batches);

  // The tensors to save; only rank 0 has the moments.
  CheckpointTensors Whole() const;
  // To be overwritten by a checkpoint, by this process alone; Continue follows.
  CheckpointTensors Own() const;
  void Continue(int64_t optimizer_steps);

  int64_t optimizer_steps() const { return optimizer_.steps(); }
  ProcessGroup* group() const { return group_; }  // may be null
  TrainingMemory memory() const;

 private:
  size_t Passes(size_t batches) const;
  void AddUp(StepReport& report) const;
  void AddUpGradients() const;
  double GradientNorm() const;
  [[noreturn]] void EndAt(int64_t step, double learning_rate, const std::string& what) const;

  Network* const network_;  // null: the model is not a Network
  ProcessGroup* const group_;
  const int zero_;
  const std::vector<Parameter> heads_;
  const std::string rate_ = "--lr";
  std::unique_ptr<ShardedParameters> shards_;  // where there is a group
  AdamW optimizer_;
};

// Operations of forward and backward over `batch`, recomputation not counted.
double FlopsOf(const ModelConfig& config, const Batch& batch, bool trains_weights);

}  // namespace agentr
