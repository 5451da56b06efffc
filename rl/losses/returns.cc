#include "rl/losses/returns.h"

#include <algorithm>
#include <numeric>

namespace agentr {

using at::Tensor;

Advantages GeneralizedAdvantages(const GaeInput& in) {
  Advantages result{at::empty_like(in.values), {}};
  Tensor next_value = in.bootstrap, later = at::zeros_like(in.bootstrap);
  for (int64_t t = in.rewards.size(0) - 1; t >= 0; --t) {
    const Tensor goes_on = 1 - in.done[t];
    const Tensor delta = in.rewards[t] + in.gamma * next_value * goes_on - in.values[t];
    later = delta + in.gamma * in.lambda * later * goes_on;
    result.advantages[t].copy_(later);
    next_value = in.values[t];
  }
  result.returns = result.advantages + in.values;
  return result;
}

Tensor NormalizedAdvantages(const Tensor& advantages) {
  return (advantages - advantages.mean()) / (advantages.std(/*unbiased=*/false) + 1e-8);
}

double ExplainedVariance(const Tensor& values, const Tensor& returns) {
  const double all = returns.var(/*unbiased=*/false).item<double>();
  if (all == 0) return 0;
  return 1 - (returns - values).var(/*unbiased=*/false).item<double>() / all;
}

Selection KeepByQuantile(std::span<const double> returns, double share) {
  Selection selection;
  if (returns.empty()) return selection;
  std::vector<double> sorted(returns.begin(), returns.end());
  std::ranges::sort(sorted);
  const double at = (1 - share) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  selection.cutoff =
      sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
  for (size_t i = 0; i < returns.size(); ++i) {
    if (returns[i] >= selection.cutoff) selection.kept.push_back(i);
  }
  return selection;
}

Selection KeepTop(std::span<const double> returns, double share) {
  Selection selection;
  selection.kept.resize(returns.size());
  std::iota(selection.kept.begin(), selection.kept.end(), size_t{0});
  std::ranges::stable_sort(selection.kept, std::greater(), [&](size_t i) { return returns[i]; });
  selection.kept.resize(static_cast<size_t>(share * static_cast<double>(returns.size())));
  if (!selection.kept.empty()) selection.cutoff = returns[selection.kept.back()];
  return selection;
}

Tensor BestSamples(const Tensor& q1, const Tensor& q2) {
  const Tensor value = at::minimum(q1, q2);
  // argmax promises no order of equal values.
  const Tensor best = (value == value.amax(0, /*keepdim=*/true)).to(at::kLong);
  return best.cumsum(0).eq(0).to(at::kLong).sum(0);
}

void Polyak(const std::vector<Parameter>& target, const std::vector<Parameter>& online,
            double tau) {
  TORCH_CHECK(target.size() == online.size());
  for (size_t i = 0; i < target.size(); ++i) {
    target[i].value.mul_(1 - tau).add_(online[i].value, tau);
  }
}

}  // namespace agentr
