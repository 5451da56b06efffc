// Losses for responses whose advantage is known from other responses or from a search tree, with
// the derivative by each log-probability: pure functions without tensors.
//
// Advantage-weighted regression (AWR; Peng et al. 2019) is supervised learning in which a response
// counts with exp(advantage / temperature). GRPO (Shao et al. 2024, section 4.1) compares the
// rewards of a group of responses to the same task, so that it needs no value network.
#pragma once

#include <span>
#include <vector>

namespace agentr {

class OptionSet;

struct AwrOptions {
  double temperature = 0.3;  // beta: the advantage that multiplies the weight by e
  double most_weight = 20;   // larger weights are cut to this value
};

// Declares --awr_temperature and --awr_max_weight.
void Declare(OptionSet& set, AwrOptions& options);

// min(exp(advantage / temperature), most_weight).
double AwrWeight(double advantage, const AwrOptions& options);

struct GrpoOptions {
  double clip = 0.2;          // epsilon: the ratio counts up to 1 + epsilon and down to 1 - epsilon
  double kl = 0.04;           // weight of the divergence from the reference; 0: no reference needed
  bool divide_by_std = true;  // false: only subtract the mean (Liu et al. 2025, "Dr. GRPO")
};

// Declares --grpo_clip, --grpo_kl and --grpo_divide_by_std.
void Declare(OptionSet& set, GrpoOptions& options);

// (reward - mean) / standard deviation of the group (of the population, not of a sample); all 0 if
// the rewards are equal up to rounding, because then nothing is to be learned from them.
std::vector<double> GroupAdvantages(std::span<const double> rewards, bool divide_by_std = true);

// One token of a response with advantage A:
//   -min(r A, clip(r, 1 - epsilon, 1 + epsilon) A) + kl * (exp(d) - d - 1)
// where r = exp(policy - sampled), d = reference - policy; the arguments are natural logarithms of
// the token's probability now, when it was sampled, and under the reference.
struct TokenLogprobs {
  double policy = 0;
  double sampled = 0;
  double reference = 0;
};
struct TokenLoss {
  double loss = 0;
  double derivative = 0;  // by TokenLogprobs::policy
  double divergence = 0;  // exp(d) - d - 1, an estimate of the KL divergence
  bool clipped = false;   // the ratio is beyond the clip, in the direction of the advantage
};
TokenLoss GrpoLoss(const TokenLogprobs& token, double advantage, const GrpoOptions& options);

}  // namespace agentr
