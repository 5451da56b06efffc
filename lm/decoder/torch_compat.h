// Hides the differences between the supported versions of LibTorch: 1.13 (Debian 12), 2.6 (Debian
// 13) and later. Only ATen is used, because it compiles faster than torch/torch.h.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

namespace agentr {

// softmax(q kᵀ / sqrt(head width)) v with LibTorch's fused kernel, which 1.13 does not have. q [B,
// H, T, D], k and v [B, H, L, D], mask [B, 1, T, L]: true where a query sees a key.
#if TORCH_VERSION_MAJOR >= 2
constexpr bool kHasFusedAttention = true;
inline at::Tensor FusedAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const at::Tensor& mask) {
  return at::scaled_dot_product_attention(q, k, v, mask);
}
#else
constexpr bool kHasFusedAttention = false;
inline at::Tensor FusedAttention(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                 const at::Tensor&) {
  TORCH_CHECK(false, "this LibTorch has no fused attention");
}
#endif

}  // namespace agentr
