#include "training/loss/batch_loss.h"

namespace agentr {

LossSums TrainOn(Network& network, const Batch& batch, double factor, uint64_t draw,
                 const LossOptions& options) {
  if (batch.targets.empty()) return {};
  const at::Tensor hidden = network.Forward(batch, TargetRows(batch), /*keep=*/true, draw);
  const at::Tensor dhidden = at::empty_like(hidden);
  const LossSums sums = LinearCrossEntropy(hidden, network.head_weight(), batch.targets, factor,
                                           dhidden, network.head_gradient(), options);
  network.Backward(dhidden);
  return sums;
}

LossSums Evaluate(Network& network, const Batch& batch) {
  if (batch.targets.empty()) return {};
  const at::Tensor hidden = network.Forward(batch, TargetRows(batch), /*keep=*/false);
  return LinearCrossEntropy(hidden, network.head_weight(), batch.targets, 1, {}, {});
}

}  // namespace agentr
