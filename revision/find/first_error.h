// The first error of a bad path (t' in Agent-R, arXiv 2501.11425, section 3.2).
#pragma once

#include <vector>

#include "common/error.h"
#include "mcts/tree.h"
#include "revision/find/verifier.h"

namespace agentr {

struct JudgedStep {
  int node = -1;
  StepJudgement judged;

  bool operator==(const JudgedStep&) const = default;
};

struct FirstError {
  int bad_steps = 0;  // steps of the bad path that are kept after the ancestor, including the error
  bool found = false;             // false: no step was judged bad, and the whole bad path is kept
  std::vector<JudgedStep> steps;  // in order, up to the first bad one

  bool operator==(const FirstError&) const = default;
};

// Judges the steps of the pair's bad path after the ancestor, up to the first bad one; uncertain
// counts as good. The step that ended the episode is left out, because nothing can be repaired
// after it. `ahead` (>= 1) steps are judged in parallel; judgements after the first bad step are
// ignored, so the result does not depend on `ahead`. Without a verifier the whole path is kept
// (Direct-Revision).
Result<FirstError> FindFirstError(const Tree& tree, const PathPair& pair, Verifier* verifier,
                                  int ahead);

}  // namespace agentr
