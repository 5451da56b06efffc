// Makes optimiser steps of parameters whose gradients have been added up: clips, steps, and ends
// the run at what is not finite. What computes the gradients derives from it (Trainer).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/checkpoint/checkpoint.h"
#include "training/loss/batch_loss.h"
#include "training/optim/adamw.h"
#include "training/parameter.h"

namespace agentr {

// The results of a step, over all processes.
struct StepReport {
  LossSums sums;
  double gradient_norm = 0;
  int64_t row_tokens = 0;  // tokens of all rows, without sharing
  int64_t tokens = 0;      // distinct tokens, which were computed
  double flops = 0;        // operations of all matrix products, forward and backward, without
                           // recomputation
  bool stopped = false;    // the step was given up before its end, and changed nothing
};

class Updater {
 public:
  // `rate`: the option of the learning rate, for messages.
  Updater(std::vector<Parameter> parameters, const AdamWOptions& options,
          std::string rate = "--lr");
  virtual ~Updater() = default;
  Updater(const Updater&) = delete;
  Updater& operator=(const Updater&) = delete;

  // Clips and makes the step, and sets the gradients to 0. Ends the run, in all processes, if the
  // loss in `report`, the norm of the gradients or a weight after the step is not finite
  // (EndDiverged).
  void Update(StepReport& report, double learning_rate);
  // The same for a loss that is known as a number.
  StepReport UpdateFor(double loss, double learning_rate);
  // Ends the run in the same way if the model can no longer answer: weights that are finite but too
  // large are as bad, and after the last step no other would show it.
  virtual void CheckAnswer() const {}

  // The tensors to save; of several processes only rank 0 has the moments.
  virtual CheckpointTensors Whole() const { return Own(); }
  // To be overwritten by a checkpoint, by this process alone; Continue follows.
  virtual CheckpointTensors Own() const;
  void Continue(int64_t optimizer_steps);

  int64_t optimizer_steps() const { return optimizer_.steps(); }

 protected:
  // `updated`: the parameters, or this process's parts of them, which the optimiser steps.
  Updater(std::vector<Parameter> parameters, std::vector<Parameter> updated,
          const AdamWOptions& options, std::string rate);

  // Before the step: adds up the gradients of several processes.
  virtual void ShareGradients() {}
  // Of all parameters in all processes.
  virtual double GradientNorm() const { return optimizer_.GradientNorm(); }
  // After the step: fetches what other processes have updated.
  virtual void ShareValues() {}
  // After the weights have changed, by a step or a checkpoint.
  virtual void Refresh() {}

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const AdamW& optimizer() const { return optimizer_; }
  const std::string& rate() const { return rate_; }

 private:
  [[noreturn]] void EndAt(int64_t step, double learning_rate, const std::string& what) const;

  const std::vector<Parameter> parameters_;
  const std::string rate_;
  AdamW optimizer_;
};

}  // namespace agentr
