// Computes the loss of a micro-batch and its gradients.
#pragma once

#include "training/data/batch.h"
#include "training/loss/linear_cross_entropy.h"
#include "training/model/network.h"

namespace agentr {

// Adds the gradients of factor * (the sum of weight * -ln p over the targets) to those of the
// network. `factor`: 1 / the weight of the whole optimiser step, all micro-batches and processes.
LossSums TrainOn(Network& network, const Batch& batch, double factor, uint64_t draw = 0,
                 const LossOptions& options = {});

// Computes only the loss.
LossSums Evaluate(Network& network, const Batch& batch);

}  // namespace agentr
