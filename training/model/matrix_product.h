// Matrix products in the compute type.
//
// LibTorch multiplies bfloat16 fast only on processors with instructions for it. On others its
// products are 10 to 70 times slower than those of float32; there the operands are converted to
// float32, some rows at a time, and the product is rounded once.
#pragma once

#include <ATen/ATen.h>

namespace agentr {

// `x`, or its copy in float32 where this processor multiplies its type slowly.
at::Tensor ForProducts(const at::Tensor& x);

// a b in their type; sums of bfloat16 are float32.
at::Tensor Multiply(const at::Tensor& a, const at::Tensor& b);

// a[i] b[i] for each i, in their type, with LibTorch's operators.
at::Tensor MultiplyBatch(const at::Tensor& a, const at::Tensor& b);

// sum += scale * aᵀ b, where `sum` has their type, or float32 if that is bfloat16.
void AddProduct(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b, double scale = 1);

}  // namespace agentr
