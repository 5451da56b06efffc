// Losses that are functions of the log-probabilities of the responses in rows, such as DPO and
// GRPO, on prefix-sharing batches: rows with equal beginnings compute them once.
//
// The network runs forward once. A first pass of the output projection gives the log-probabilities,
// from which the caller computes the derivative of its loss by each of them; a second pass turns
// these derivatives into gradients.
#pragma once

#include <functional>
#include <vector>

#include "training/data/batch_builder.h"
#include "training/loss/linear_cross_entropy.h"
#include "training/model/network.h"

namespace agentr {

// A value for each trained token of each row, in the order of RowBatch::targets.
using RowValues = std::vector<std::vector<double>>;

// Computes the natural log-probabilities of the trained tokens.
RowValues RowLogprobs(Network& network, const RowBatch& rows, const LossOptions& options = {});

// Gets the log-probabilities and sets the derivatives of the loss by each of them, which are 0
// before.
using RowLoss = std::function<void(const RowValues& logprobs, RowValues& derivatives)>;

// Adds the gradients of the loss to those of the network. `draw`: of dropout, as in
// Network::Forward.
void TrainOnRows(Network& network, const RowBatch& rows, const RowLoss& loss, uint64_t draw = 0,
                 const LossOptions& options = {});

}  // namespace agentr
