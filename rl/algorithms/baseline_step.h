// An optimiser step of REINFORCE with a baseline for each token: a head of the policy learns the
// advantage of the whole action at every one of its tokens, and what it says is subtracted
// (ReinforceBaselineLoss). ArCHer's released code prepares this variant but cannot run it.
#pragma once

#include <ATen/ATen.h>

#include <span>

#include "rl/algorithms/weighted_step.h"
#include "rl/networks/mlp.h"
#include "training/data/training_row.h"

namespace agentr {

// `rows` have one trained span each, the action; `advantage` [rows]. The trainer has the head's
// parameters beside those of the network.
void BaselineStep(Trainer& trainer, Network& network, Mlp& head, std::span<const TrainingRow> rows,
                  const at::Tensor& advantage, double learning_rate, WeightedStepSums& sums);

}  // namespace agentr
