#include "rl/losses/preference.h"

#include <algorithm>
#include <cmath>

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, DpoOptions& o) {
  set.Group("DPO");
  set.Add("--dpo_beta", o.beta,
          "DPO: how strongly the policy is held to the model before training; a smaller value lets "
          "it move further")
      .Range(0, 1e6);
  set.Add("--dpo_length_normalized", o.length_normalized,
          "DPO: use the mean log-probability of a response's tokens instead of the sum; --dpo_beta "
          "should then be about 5");
  set.Add("--dpo_likelihood", o.likelihood,
          "DPO: weight of the chosen response's own loss per token, which keeps it probable")
      .Range(0, 1e6);
}

PairLoss DpoLoss(const ResponseLogprob& chosen, const ResponseLogprob& rejected,
                 const DpoOptions& options) {
  const auto scale = [&](const ResponseLogprob& response) {
    const auto tokens = static_cast<double>(std::max<size_t>(1, response.tokens));
    return options.length_normalized ? options.beta / tokens : options.beta;
  };
  const double of_chosen = scale(chosen), of_rejected = scale(rejected);
  PairLoss result;
  result.margin = of_chosen * (chosen.policy - chosen.reference) -
                  of_rejected * (rejected.policy - rejected.reference);
  // -ln sigmoid(m) = ln(1 + exp(-m)), written so that no exponential overflows.
  result.loss = std::max(-result.margin, 0.0) + std::log1p(std::exp(-std::abs(result.margin)));
  const double slope = -1 / (1 + std::exp(result.margin));  // d loss / d m = -sigmoid(-m)
  result.d_chosen = slope * of_chosen;
  result.d_rejected = -slope * of_rejected;
  const double per_token =
      options.likelihood / static_cast<double>(std::max<size_t>(1, chosen.tokens));
  result.loss -= per_token * chosen.policy;
  result.d_chosen -= per_token;
  return result;
}

}  // namespace agentr
