// What follows from rewards before any gradient: returns, advantages, selections, and the average
// of a target network. Pure functions.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <span>
#include <vector>

#include "training/parameter.h"

namespace agentr {

// Generalised advantage estimation (Schulman et al. 2016) over [time, environments].
struct GaeInput {
  at::Tensor rewards;
  at::Tensor done;       // 1 if the step ended an episode; a horizon counts, as in the reference
  at::Tensor values;     // of the state before each step
  at::Tensor bootstrap;  // [environments] of the state after the last step
  double gamma = 0.99;
  double lambda = 0.99;
};
struct Advantages {
  at::Tensor advantages, returns;  // [time, environments]; returns = advantages + values
};
Advantages GeneralizedAdvantages(const GaeInput& input);

// (A - mean) / (standard deviation + 1e-8), with the deviation of the population.
at::Tensor NormalizedAdvantages(const at::Tensor& advantages);

// 1 - variance(R - V) / variance(R): 1 if the values foretell the returns, 0 if a constant would do
// as well; 0 also if all returns are equal.
double ExplainedVariance(const at::Tensor& values, const at::Tensor& returns);

// The episodes that filtered behaviour cloning trains on.
struct Selection {
  double cutoff = 0;
  std::vector<size_t> kept;  // indices
};
// Online: returns of at least the (1 - share) quantile (linear interpolation), in their order. If
// more than that have the smallest return, all are kept.
Selection KeepByQuantile(std::span<const double> returns, double share);
// Offline: the first int(share * n) by falling return; of equal ones, the earlier.
Selection KeepTop(std::span<const double> returns, double share);

// CHAI's choice: for each state the sample with the largest min(q1, q2), the first of equal ones;
// q1, q2 [samples, states]. Returns [states] (int64).
at::Tensor BestSamples(const at::Tensor& q1, const at::Tensor& q2);

// target = (1 - tau) target + tau online, value by value; both lists in the same order.
void Polyak(const std::vector<Parameter>& target, const std::vector<Parameter>& online, double tau);

}  // namespace agentr
