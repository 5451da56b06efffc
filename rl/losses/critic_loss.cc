#include "rl/losses/critic_loss.h"

namespace agentr {
namespace {

using at::Tensor;

struct HeadLoss {
  double loss = 0;
  Tensor gradient;
};

// mean weight * (value - target)^2.
HeadLoss SquaredLoss(const Tensor& value, const Tensor& target, const Tensor& weight) {
  const Tensor off = value - target;
  return {(weight * off.square()).mean().item<double>(),
          weight * off * (2 / static_cast<double>(value.numel()))};
}

Tensor ExpectileWeights(const Tensor& above, const std::optional<double>& expectile) {
  if (!expectile) return at::ones_like(above);
  return at::where(above > 0, at::full_like(above, *expectile),
                   at::full_like(above, 1 - *expectile));
}

}  // namespace

CriticLoss DoubleCriticLoss(const DoubleCritic& online, const CriticTargets& t) {
  CriticLoss loss;
  const Tensor goes_on = t.gamma * (1 - t.done);
  const auto q_loss = [&](const Tensor& q, const Tensor& next_v) {
    return SquaredLoss(q, t.reward + goes_on * next_v, at::ones_like(q));
  };
  const auto v_loss = [&](const Tensor& v, const Tensor& q) {
    return SquaredLoss(v, q, ExpectileWeights(q - v, t.expectile));
  };
  const auto take = [](const HeadLoss& head, double& value, Tensor& gradient) {
    value = head.loss;
    gradient = head.gradient;
  };
  take(q_loss(online.q1, t.next_v1), loss.q1, loss.gradient.q1);
  take(q_loss(online.q2, t.next_v2), loss.q2, loss.gradient.q2);
  take(v_loss(online.v1, t.q1), loss.v1, loss.gradient.v1);
  take(v_loss(online.v2, t.q2), loss.v2, loss.gradient.v2);
  return loss;
}

Tensor UtteranceAdvantage(const DoubleCritic& critic) {
  return at::minimum(critic.q1, critic.q2) - at::minimum(critic.v1, critic.v2);
}

TdLoss HuberTdLoss(const Tensor& q, const Tensor& reward, const Tensor& done, const Tensor& next_q,
                   double gamma) {
  TdLoss result;
  result.target = reward + gamma * (1 - done) * next_q.amax(1);
  const Tensor off = q - result.target, size = off.abs();
  result.loss = at::where(size < 1, off.square() / 2, size - 0.5).mean().item<double>();
  result.gradient = off.clamp(-1, 1) / static_cast<double>(q.numel());
  return result;
}

}  // namespace agentr
