#include "training/loss/row_loss.h"

namespace agentr {
namespace {

RowValues ByRow(const RowBatch& rows, const std::vector<float>& by_target) {
  RowValues values(rows.targets.size());
  for (size_t i = 0; i < values.size(); ++i) {
    for (const int32_t target : rows.targets[i]) {
      values[i].push_back(by_target[static_cast<size_t>(target)]);
    }
  }
  return values;
}

// The batch's targets with the negative derivatives as weights: the gradient of -weight * ln p is
// then that of the loss. A target of several rows has the sum of their derivatives.
std::vector<Target> Weighted(const RowBatch& rows, const RowValues& derivatives) {
  std::vector<double> sums(rows.batch.targets.size());
  for (size_t i = 0; i < derivatives.size(); ++i) {
    for (size_t k = 0; k < derivatives[i].size(); ++k) {
      sums[static_cast<size_t>(rows.targets[i][k])] -= derivatives[i][k];
    }
  }
  std::vector<Target> targets = rows.batch.targets;
  for (size_t i = 0; i < targets.size(); ++i) targets[i].weight = static_cast<float>(sums[i]);
  return targets;
}

}  // namespace

RowValues RowLogprobs(Network& network, const RowBatch& rows, const LossOptions& options) {
  if (rows.batch.targets.empty()) return RowValues(rows.targets.size());
  const at::Tensor hidden = network.Forward(rows.batch, TargetRows(rows.batch), /*keep=*/false);
  return ByRow(rows, TargetLogProbs(hidden, network.head_weight(), rows.batch.targets, options));
}

void TrainOnRows(Network& network, const RowBatch& rows, const RowLoss& loss, uint64_t draw,
                 const LossOptions& options) {
  if (rows.batch.targets.empty()) return;
  const at::Tensor hidden =
      network.Forward(rows.batch, TargetRows(rows.batch), /*keep=*/true, draw);
  const RowValues logprobs =
      ByRow(rows, TargetLogProbs(hidden, network.head_weight(), rows.batch.targets, options));
  RowValues derivatives(logprobs.size());
  for (size_t i = 0; i < logprobs.size(); ++i) derivatives[i].resize(logprobs[i].size());
  loss(logprobs, derivatives);
  const at::Tensor dhidden = at::empty_like(hidden);
  LinearCrossEntropy(hidden, network.head_weight(), Weighted(rows, derivatives), 1, dhidden,
                     network.head_gradient(), options);
  network.Backward(dhidden);
}

}  // namespace agentr
