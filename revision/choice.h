// Which paths are good, and which are bad beside a good one.
//
// Qualities are means of rewards, so 0.9 - 0.7 comes out a little above 0.2: a billionth counts as
// nothing on either side.
#pragma once

#include "revision/paths.h"

namespace agentr {

struct QualityThresholds {
  double alpha = 0.5;  // least quality of a good path, itself included: 1.0 keeps perfect paths
  double beta = 0.2;   // a bad path is worse than its good partner by more than this
};

constexpr double kQualityTolerance = 1e-9;

inline bool AtLeast(double quality, double bound) { return quality >= bound - kQualityTolerance; }

inline bool IsGood(const LeafPath& path, const QualityThresholds& options) {
  return AtLeast(path.quality, options.alpha);
}

inline bool IsBadBeside(const LeafPath& path, const LeafPath& good,
                        const QualityThresholds& options) {
  return !AtLeast(path.quality, good.quality - options.beta);
}

}  // namespace agentr
