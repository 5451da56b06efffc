// Losses of critics, with their gradients. Pure functions on tensors [rows] of one floating-point
// type.
//
// The double critic is ArCHer's (Zhou et al. 2024): two estimates Q_i(s, a) and V_i(s), each with a
// slowly moving target copy. Head i is trained towards the targets of head i alone. Offline it
// learns V by expectile regression on the actions of the data (IQL: Kostrikov et al. 2021).
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace agentr {

// The four heads; `v` and `next_v` of which state is said where they are used.
struct DoubleCritic {
  at::Tensor q1, q2, v1, v2;
};

struct CriticTargets {
  at::Tensor reward, done;      // done: 1 if nothing follows
  at::Tensor next_v1, next_v2;  // target heads at the next state
  at::Tensor q1, q2;            // target heads at the state, and an action: of the policy
                                // (ArCHer) or of the data (IQL)
  double gamma = 0.95;
  std::optional<double> expectile;  // of V; unset: the mean
};

struct CriticLoss {
  double q1 = 0, q2 = 0, v1 = 0, v2 = 0;
  double total() const { return q1 + q2 + v1 + v2; }
  DoubleCritic gradient;  // of the total
};

//   mean (Q_i(s, a) - target_i)^2 + mean w_i (Q'_i(s, a') - V_i(s))^2,   i = 1, 2
// target_i = r + gamma (1 - done) V'_i(next state). w_i = 1 without an expectile e; otherwise e
// where Q'_i > V_i, and 1 - e elsewhere.
CriticLoss DoubleCriticLoss(const DoubleCritic& online, const CriticTargets& targets);

// min(Q1, Q2) - min(V1, V2).
at::Tensor UtteranceAdvantage(const DoubleCritic& critic);

// DRRN's temporal difference: smooth L1 (beta 1) of q [rows] against r + gamma (1 - done) max q',
// `next_q` [rows, actions]. DRRN has no target network.
struct TdLoss {
  double loss = 0;
  at::Tensor target, gradient;
};
TdLoss HuberTdLoss(const at::Tensor& q, const at::Tensor& reward, const at::Tensor& done,
                   const at::Tensor& next_q, double gamma);

}  // namespace agentr
