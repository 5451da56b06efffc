#include "rl/losses/group_relative.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, AwrOptions& o) {
  set.Group("Advantage-weighted regression");
  set.Add(
         "--awr_temperature", o.temperature,
         "AWR: a response counts exp(advantage / this); a large value is plain supervised learning")
      .Min(1e-6);
  set.Add("--awr_max_weight", o.most_weight, "AWR: larger weights are cut to this value")
      .Range(0, 1e6);
}

double AwrWeight(double advantage, const AwrOptions& options) {
  return std::min(std::exp(advantage / options.temperature), options.most_weight);
}

void Declare(OptionSet& set, GrpoOptions& o) {
  set.Group("Group-relative policy optimisation");
  set.Add("--grpo_clip", o.clip,
          "GRPO: the ratio of new to old probability of a token counts only within 1 - this and "
          "1 + this")
      .Min(0);
  set.Add("--grpo_clip_high", o.clip_high,
          "GRPO: the ratio counts up to 1 + this instead, so that improbable tokens can become "
          "probable (clip-higher, 0.28 in DAPO); 0: --grpo_clip")
      .Min(0);
  set.Add("--grpo_kl", o.kl, "GRPO: weight of the divergence from the model before training")
      .Range(0, 1e6);
  set.Add("--grpo_divide_by_std", o.divide_by_std,
          "GRPO: divide a group's advantages by the standard deviation of its rewards");
  set.AddNamed("--grpo_loss", o.average, kGrpoAverages,
               "GRPO: the loss of a step is the mean over responses of the mean over their tokens "
               "(sequence), the mean over all tokens (token), or their sum divided by responses "
               "times --max_new_tokens (constant)");
  set.AddNamed("--grpo_overlong", o.overlong, kOverlongs,
               "GRPO: responses that the limit of tokens cut off are trained like others (keep), "
               "left out (mask), or have their advantage lowered by 1 (punish)");
}

std::vector<double> GroupAdvantages(std::span<const double> rewards, bool divide_by_std) {
  std::vector<double> advantages(rewards.begin(), rewards.end());
  const auto n = static_cast<double>(rewards.size());
  const double mean = std::accumulate(rewards.begin(), rewards.end(), 0.0) / n;
  double squares = 0;
  for (double& advantage : advantages) {
    advantage -= mean;
    squares += advantage * advantage;
  }
  const double deviation = std::sqrt(squares / n);
  if (deviation < 1e-9) return std::vector<double>(rewards.size(), 0.0);
  if (divide_by_std) {
    for (double& advantage : advantages) advantage /= deviation;
  }
  return advantages;
}

TokenLoss GrpoLoss(const TokenLogprobs& token, double advantage, const GrpoOptions& options) {
  const double ratio = std::exp(token.policy - token.sampled);
  const double high = options.clip_high > 0 ? options.clip_high : options.clip;
  const double clipped = std::clamp(ratio, 1 - options.clip, 1 + high);
  TokenLoss result;
  result.clipped = clipped * advantage < ratio * advantage;
  result.loss = -std::min(ratio * advantage, clipped * advantage);
  result.derivative = result.clipped ? 0 : -ratio * advantage;
  result.moved = ratio - 1 - (token.policy - token.sampled);
  if (options.kl > 0) {
    const double d = token.reference - token.policy;
    result.divergence = std::exp(d) - d - 1;
    result.loss += options.kl * result.divergence;
    result.derivative += options.kl * (1 - std::exp(d));
  }
  return result;
}

double TokenShare(const GrpoStep& step, size_t tokens, const GrpoOptions& options) {
  switch (options.average) {
    case GrpoAverage::kSequence:
      return 1 / step.responses / static_cast<double>(tokens);
    case GrpoAverage::kToken:
      return 1 / step.tokens;
    case GrpoAverage::kConstant:
      return 1 / (step.responses * options.constant);
  }
  return 0;
}

}  // namespace agentr
