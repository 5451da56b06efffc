// Attention on a prefix tree: each token sees the tokens of its path, including itself.
//
// Nothing of the size queries × keys is kept: the backward pass recomputes the shares from the
// logarithm of each row's sum (like FlashAttention, Dao et al. 2022).
#pragma once

#include <ATen/ATen.h>

#include "training/model/attention_plan.h"

namespace agentr {

// Heads that share keys are adjacent: q [kv heads, queries, shared, head_dim], k and v [kv heads,
// tokens, 1, head_dim].
struct AttentionInput {
  at::Tensor q, k, v;
};
struct AttentionOutput {
  at::Tensor mixed;     // shape of q: softmax(q kᵀ / sqrt(head_dim)) v
  at::Tensor log_sums;  // float32 [kv heads, queries, shared]
};
AttentionOutput Attend(const AttentionPlan& plan, const AttentionInput& input);

// The gradients of q (in its type) and of k and v (float32). `dots`: the scalar products of dmixed
// and mixed, head by head, with the shape of log_sums.
AttentionInput AttendBackward(const AttentionPlan& plan, const AttentionInput& input,
                              const at::Tensor& log_sums, const at::Tensor& dmixed,
                              const at::Tensor& dots);

}  // namespace agentr
