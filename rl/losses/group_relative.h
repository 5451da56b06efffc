// Losses for responses whose advantage is known from other responses or from a search tree, with
// the derivative by each log-probability: pure functions without tensors.
//
// Advantage-weighted regression (AWR; Peng et al. 2019) is supervised learning in which a response
// counts with exp(advantage / temperature). GRPO (Shao et al. 2024, section 4.1) compares the
// rewards of a group of responses to the same task, so that it needs no value network.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "common/named_values.h"

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

// How the losses of tokens become the loss of an optimiser step.
enum class GrpoAverage {
  kSequence,  // mean over responses of the mean over their tokens (GRPO)
  kToken,     // mean over all tokens of the step (Yu et al. 2025, "DAPO")
  kConstant,  // sum over all tokens / (responses * a constant) (Liu et al. 2025, "Dr. GRPO")
};
inline constexpr std::array<NamedValue<GrpoAverage>, 3> kGrpoAverages = {
    {{"sequence", GrpoAverage::kSequence},
     {"token", GrpoAverage::kToken},
     {"constant", GrpoAverage::kConstant}}};

// What becomes of a response that the limit of tokens cut off.
enum class Overlong {
  kKeep,    // it is trained like every other one
  kMask,    // it is left out of the loss
  kPunish,  // its advantage is lowered by kOverlongPunishment
};
inline constexpr std::array<NamedValue<Overlong>, 3> kOverlongs = {
    {{"keep", Overlong::kKeep}, {"mask", Overlong::kMask}, {"punish", Overlong::kPunish}}};
// As much as a reward that is one standard deviation of the group lower.
inline constexpr double kOverlongPunishment = 1;

struct GrpoOptions {
  double clip = 0.2;          // epsilon: the ratio counts down to 1 - epsilon
  double clip_high = 0;       // and up to 1 + this; 0: also epsilon
  double kl = 0.04;           // weight of the divergence from the reference; 0: no reference needed
  bool divide_by_std = true;  // false: only subtract the mean (Liu et al. 2025, "Dr. GRPO")
  GrpoAverage average = GrpoAverage::kSequence;
  int constant = 0;  // of kConstant: the limit of tokens of a response
  Overlong overlong = Overlong::kKeep;
};

// Declares --grpo_clip, --grpo_clip_high, --grpo_kl, --grpo_divide_by_std, --grpo_loss and
// --grpo_overlong.
void Declare(OptionSet& set, GrpoOptions& options);

// (reward - mean) / standard deviation of the group (of the population, not of a sample); all 0 if
// the rewards are equal up to rounding, because then nothing is to be learned from them.
std::vector<double> GroupAdvantages(std::span<const double> rewards, bool divide_by_std = true);

// One token of a response with advantage A:
//   -min(r A, clip(r, 1 - epsilon, 1 + epsilon_high) A) + kl * (exp(d) - d - 1)
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
  double divergence = 0;  // exp(d) - d - 1, an estimate of the KL divergence from the reference
  double moved = 0;       // r - 1 - ln r, the same from the policy that sampled
  bool clipped = false;   // the ratio is beyond the clip, in the direction of the advantage
};
TokenLoss GrpoLoss(const TokenLogprobs& token, double advantage, const GrpoOptions& options);

// What an optimiser step contains. A response that stands for several equal ones counts so often.
struct GrpoStep {
  double responses = 0;
  double tokens = 0;
};
// The factor of each token's loss in a response of `tokens` tokens.
double TokenShare(const GrpoStep& step, size_t tokens, const GrpoOptions& options);

}  // namespace agentr
