// Decides which paths are good, and which are bad compared with a good one.
//
// Values are means of rewards, so rounding makes 0.9 - 0.7 slightly larger than 0.2: differences
// up to a billionth are ignored.
#pragma once

#include <algorithm>
#include <vector>

#include "revision/find/paths.h"

namespace agentr {

struct ValueThresholds {
  double alpha = 0.5;  // smallest value of a good path, inclusive: 1.0 keeps perfect paths
  double beta = 0.2;   // a bad path is worse than its good partner by more than this
  double margin = 0;   // a good path is worse than the best one of its tree by at most this
};

constexpr double kValueTolerance = 1e-9;

inline bool AtLeast(double value, double bound) { return value >= bound - kValueTolerance; }

// The thresholds in a tree with these paths: what is good there also depends on the best of them,
// or on `success` if the best is better, because better rewards than that only mean fewer steps.
inline ValueThresholds InTree(ValueThresholds options, const std::vector<LeafPath>& paths,
                              double success) {
  double best = 0;
  for (const LeafPath& path : paths) best = std::max(best, path.value);
  options.alpha = std::max(options.alpha, std::min(best, success) - options.margin);
  return options;
}

inline bool IsGood(const LeafPath& path, const ValueThresholds& options) {
  return AtLeast(path.value, options.alpha);
}

inline bool IsBadBeside(const LeafPath& path, const LeafPath& good,
                        const ValueThresholds& options) {
  return !AtLeast(path.value, good.value - options.beta);
}

}  // namespace agentr
