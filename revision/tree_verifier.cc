#include "revision/tree_verifier.h"

#include <fmt/core.h>

namespace agentr {

Result<StepJudgement> TreeVerifier::Judge(const PathPair& pair, int node) {
  const double best = best_below_[static_cast<size_t>(node)];
  const double wanted = pair.good.quality - choice_.beta;
  const bool reached = AtLeast(best, wanted);
  return StepJudgement{
      reached ? Judgement::kGood : Judgement::kBad,
      fmt::format("The best end that was found from here has the reward {:.4g}; {:.4g} "
                  "was wanted.",
                  best, wanted)};
}

}  // namespace agentr
