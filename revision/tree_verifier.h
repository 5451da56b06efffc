#pragma once

#include <vector>

#include "revision/choice.h"
#include "revision/verifier.h"

namespace agentr {

// Judges by the tree, without a model: a step is bad when no visited continuation of it reached the
// good path's quality minus beta. The leaf of a bad path never did, so every bad path has a first
// error.
class TreeVerifier : public Verifier {
 public:
  TreeVerifier(const Tree& tree, const QualityThresholds& choice)
      : best_below_(BestBelow(tree)), choice_(choice) {}

  Result<StepJudgement> Judge(const PathPair& pair, int node) override;

 private:
  const std::vector<double> best_below_;
  const QualityThresholds choice_;
};

}  // namespace agentr
