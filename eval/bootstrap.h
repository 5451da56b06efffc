// Confidence intervals of means: percentile bootstrap over tasks.
//
// The resampled unit is the task, represented by the mean of its attempts. Tasks vary more than
// attempts, so resampling episodes would make the intervals for many attempts on few tasks far too
// narrow. Every task has the same weight. Source: Efron, Tibshirani, An Introduction to the
// Bootstrap (1993), chapters 13 and 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace agentr {

struct BootstrapOptions {
  int resamples = 10000;
  uint64_t seed = 0;
};

// A mean with its 95 % interval.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
  size_t tasks = 0;  // number of tasks used; if 0, there is nothing to estimate and the rest is 0
};

// A mean difference with its 95 % interval and the two-sided p of "there is no difference".
struct PairedDifference {
  Estimate estimate;
  double p = 1;
};

// `mean` with the 2.5 % and 97.5 % quantiles (interpolated linearly) of what the resamples gave, of
// which there must be one.
Estimate IntervalOf(double mean, std::vector<double> drawn, size_t tasks);

// The mean of `values`, one per task, and the 2.5 % and 97.5 % quantiles of the means of resamples
// (interpolated linearly). For one value, or equal ones, the interval is only that value, because
// data without spread say nothing about their uncertainty. The same values, order and options give
// the same bits.
Estimate BootstrapMean(std::span<const double> values, const BootstrapOptions& options);

// A rate with an interval of resamples. Where no task succeeded, or all did, the interval becomes
// Wilson's (1927) for so many tasks: 0 of 8 gives [0, 0.324], because a rate that was not seen to
// differ from 0 may still do so.
Estimate WidenedRate(Estimate rate);

// BootstrapMean of shares of success between 0 and 1, as WidenedRate.
Estimate BootstrapRate(std::span<const double> shares, const BootstrapOptions& options);

// The ratio of two means over the same tasks, sum(above) / sum(below), and the quantiles of the
// ratios of resamples. Resamples in which the sum below is 0 have no ratio and are left out.
// Nothing is estimated (tasks 0) if that sum is 0 already.
Estimate BootstrapRatio(std::span<const double> above, std::span<const double> below,
                        const BootstrapOptions& options);

// The same for differences on the same tasks. For p the differences are shifted to mean 0 (the null
// hypothesis); p is the share of their resamples whose mean is at least as far from 0 as the
// observed mean, including the observed one: (1 + hits) / (1 + resamples). It is never below 2^(1 -
// n), the smallest p that the signs of n differences allow, so a few tasks that agree by chance do
// not look certain. p is 1 if the mean difference is 0.
PairedDifference PairedBootstrap(std::span<const double> differences,
                                 const BootstrapOptions& options);

}  // namespace agentr
