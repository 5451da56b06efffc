// How sure a mean is: percentile bootstrap over tasks.
//
// The unit that is drawn again is the task: with several attempts a task enters with the mean of
// its attempts, which therefore stay together. Tasks vary more than attempts, and drawing episodes
// would make the intervals of many attempts on few tasks far too narrow. Every task weighs the
// same. Source: Efron, Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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
  size_t tasks = 0;  // that it rests on; 0: there is nothing to estimate from, the rest is 0
};

// A mean difference with its 95 % interval and the two-sided p of "there is no difference".
struct PairedDifference {
  Estimate estimate;
  double p = 1;
};

// The mean of `values`, one per task, and the 2.5 and 97.5 % quantiles of the means of resamples
// (linear between neighbours). Of one value, or of equal ones, the interval is the value alone:
// data without spread tell nothing about it. Same values, order and options: same result to the
// bit.
Estimate BootstrapMean(std::span<const double> values, const BootstrapOptions& options);

// The same for differences on the same tasks. p is the share of resamples of the centred
// differences (their mean moved to 0: the null hypothesis) whose mean is at least as far from 0 as
// the one observed, the observed one counted in: (1 + hits) / (1 + resamples). It is never below
// 2^(1 - n), the least that the signs of n differences can show, so that few tasks that agree by
// chance are not called certain. p is 1 if the mean difference is 0.
PairedDifference PairedBootstrap(std::span<const double> differences,
                                 const BootstrapOptions& options);

}  // namespace agentr
