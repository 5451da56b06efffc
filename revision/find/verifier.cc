#include "revision/find/verifier.h"

namespace agentr {

Result<StepJudgement> CachingVerifier::Judge(const PathPair& pair, int node) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(node);
    if (known != known_.end()) return known->second;
  }
  Result<StepJudgement> judged = inner_->Judge(pair, node);
  if (judged) {
    const std::lock_guard lock(mutex_);
    known_.try_emplace(node, *judged);
  }
  return judged;
}

}  // namespace agentr
