// The first error of a bad path (t' in Agent-R, arXiv 2501.11425, section 3.2).
#pragma once

#include <vector>

#include "common/error.h"
#include "mcts/tree.h"
#include "revision/pairing.h"
#include "revision/verifier.h"

namespace agentr {

struct JudgedStep {
  int node = -1;
  StepJudgement judged;

  bool operator==(const JudgedStep&) const = default;
};

struct FirstError {
  int bad_steps = 0;  // steps of the bad path that are kept behind the ancestor, the error included
  bool found = false;             // false: no step was judged bad, and the whole bad path is kept
  std::vector<JudgedStep> steps;  // in order, up to the first bad one

  bool operator==(const FirstError&) const = default;
};

// Walks the bad path of the pair from behind the ancestor, without the step that ended the episode,
// after which nothing can be repaired; the first step judged bad ends it,
// uncertain counts as good. `ahead` (>= 1) steps at once are judged in parallel: what comes behind
// the first bad one is not looked at, so the result is the same for all values. Without a verifier
// the whole path is kept (Direct-Revision).
Result<FirstError> FindFirstError(const Tree& tree, const PathPair& pair, Verifier* verifier,
                                  int ahead);

}  // namespace agentr
