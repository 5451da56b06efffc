// Losses of policies that learn from reward, each with its gradient. Pure functions on tensors of
// one floating-point type.
//
// The gradients are by log-probabilities (of whole actions or of tokens) or by the scores of listed
// actions. A network's backward pass turns a gradient g by ln p(token) into the cross-entropy of
// that token with the weight -g (rl/losses/row_pass.h), so no loss here needs logits.
//
// Sources: ArCHer (Zhou et al. 2024), its offline successor, and GLAM (Carta et al. 2023); PPO's
// clipped objective is that of Schulman et al. (2017), the KL term that of the offline code.
#pragma once

#include <ATen/ATen.h>

namespace agentr {

// exp(A * inverse_temperature), at most `most` (0: no limit, as in the reference).
at::Tensor AdvantageWeights(const at::Tensor& advantage, double inverse_temperature, double most);

// REINFORCE with a baseline v_t for each token. `token_logprob`, `values`, `mask` [rows, time];
// `advantage` [rows].
struct BaselineLoss {
  double policy = 0;             // -mean_b sum_t (A - v_t) ln p_t, v_t a constant
  double value = 0;              // mean over rows and time, also masked, of ((A - v_t) m_t)^2
  at::Tensor dlogprob, dvalues;  // of policy + value
};
BaselineLoss ReinforceBaselineLoss(const at::Tensor& token_logprob, const at::Tensor& values,
                                   const at::Tensor& advantage, const at::Tensor& mask);

struct PpoOptions {
  double clip = 0.2;        // of the ratio
  double value_clip = 0.2;  // of the change of a value; 0: none
  double entropy_coefficient = 0.01;
  double value_coefficient = 0.5;
};

// What was noted when the actions were taken, and the current scores and values. The policy is
// softmax(scores). All [rows] but `scores` [rows, actions] and `action` (int64).
struct PpoInput {
  at::Tensor scores, values;
  at::Tensor action, old_logprob, advantage, returns, old_values;
};
struct PpoLoss {
  double policy = 0;   // -mean min(ratio * A, clip(ratio) * A)
  double value = 0;    // mean max((V - R)^2, (V_old + clip(V - V_old) - R)^2)
  double entropy = 0;  // mean
  double total = 0;    // policy - entropy_coefficient * entropy + value_coefficient * value
  double clipped = 0;  // share of rows whose ratio is out of the range
  double kl = 0;       // mean r - 1 - ln r of the ratios r: how far the policy is from the old one
  at::Tensor logprob;  // [rows] of the actions taken
  at::Tensor dscores, dvalues;  // of the total
};
// The reference subtracts V [rows, 1] from R [rows], which pulls each value to the mean of the
// returns; here both are [rows].
PpoLoss ClippedPpoLoss(const PpoInput& input, const PpoOptions& options);

}  // namespace agentr
