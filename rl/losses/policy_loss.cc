#include "rl/losses/policy_loss.h"

#include <limits>

namespace agentr {
namespace {

using at::Tensor;

double Scalar(const Tensor& value) { return value.item<double>(); }

}  // namespace

Tensor AdvantageWeights(const Tensor& advantage, double inverse_temperature, double most) {
  const Tensor weights = (advantage * inverse_temperature).exp();
  return most > 0 ? weights.clamp_max(most) : weights;
}

BaselineLoss ReinforceBaselineLoss(const Tensor& token_logprob, const Tensor& values,
                                   const Tensor& advantage, const Tensor& mask) {
  const auto rows = static_cast<double>(values.size(0));
  const Tensor ahead = (advantage.unsqueeze(1) - values) * mask;
  BaselineLoss result;
  result.policy = -Scalar((ahead * token_logprob).sum()) / rows;
  result.value = Scalar(ahead.square().mean());
  result.dlogprob = ahead / -rows;
  result.dvalues = ahead * mask * (-2 / static_cast<double>(values.numel()));
  return result;
}

PpoLoss ClippedPpoLoss(const PpoInput& in, const PpoOptions& o) {
  const auto rows = static_cast<double>(in.values.size(0));
  const Tensor logp = at::log_softmax(in.scores, -1), p = logp.exp();
  const Tensor taken = in.action.unsqueeze(1);
  PpoLoss loss;
  loss.logprob = logp.gather(1, taken).squeeze(1);

  const Tensor log_ratio = loss.logprob - in.old_logprob, ratio = log_ratio.exp();
  const Tensor plain = ratio * in.advantage;
  const Tensor limited = ratio.clamp(1 - o.clip, 1 + o.clip) * in.advantage;
  loss.policy = -Scalar(at::minimum(plain, limited).mean());
  loss.clipped = Scalar(((ratio - 1).abs() > o.clip).to(at::kDouble).mean());
  loss.kl = Scalar((ratio - 1 - log_ratio).mean());
  // Where the limited term is the smaller one, the ratio is out of the range and the term constant.
  const Tensor dlogprob = at::where(plain <= limited, plain, at::zeros_like(plain)) / -rows;

  const Tensor entropy = -(p * logp).sum(1);
  loss.entropy = Scalar(entropy.mean());
  const Tensor dentropy = -p * (logp + entropy.unsqueeze(1)) / rows;
  const Tensor chosen = at::zeros_like(p).scatter_(1, taken, 1);
  loss.dscores = dlogprob.unsqueeze(1) * (chosen - p) - o.entropy_coefficient * dentropy;

  const Tensor off = in.values - in.returns, moved = in.values - in.old_values;
  const double most = o.value_clip > 0 ? o.value_clip : std::numeric_limits<double>::infinity();
  // Where nothing is limited the two differences are the same number; computed, they could differ.
  const Tensor off_limited =
      at::where(moved.abs() <= most, off, in.old_values + moved.clamp(-most, most) - in.returns);
  loss.value = Scalar(at::maximum(off.square(), off_limited.square()).mean());
  const Tensor follows = off.square() >= off_limited.square();
  loss.dvalues = at::where(follows, off, at::zeros_like(off)) * (2 * o.value_coefficient / rows);

  loss.total =
      loss.policy - o.entropy_coefficient * loss.entropy + o.value_coefficient * loss.value;
  return loss;
}

}  // namespace agentr
