// Decides which paths are good, and which are bad compared with a good one.
//
// Qualities are means of rewards, so rounding makes 0.9 - 0.7 slightly larger than 0.2: differences
// up to a billionth are ignored.
#pragma once

#include "revision/paths.h"

namespace agentr {

struct QualityThresholds {
  double alpha = 0.5;  // smallest quality of a good path, inclusive: 1.0 keeps perfect paths
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
