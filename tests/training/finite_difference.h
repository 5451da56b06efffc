// Gradients by central differences, for the tests of hand-written backward passes.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/random.h"

namespace agentr {

inline at::Tensor RandomTensor(at::IntArrayRef shape, uint64_t seed, double scale = 1) {
  at::Tensor t = at::empty(shape, at::kFloat);
  RandomStream stream(seed);
  float* values = t.data_ptr<float>();
  for (int64_t i = 0; i < t.numel(); ++i) {
    values[i] = static_cast<float>((stream.Uniform() * 2 - 1) * scale);
  }
  return t;
}

// The derivatives of `f`, which reads `x`, by each value of `x` are those in `gradient`.
inline void ExpectGradient(const at::Tensor& x, const at::Tensor& gradient,
                           const std::function<double()>& f, double step = 1e-2,
                           double tolerance = 2e-3) {
  ASSERT_EQ(x.sizes(), gradient.sizes());
  const at::Tensor values = x.view({-1}), derivatives = gradient.reshape({-1});
  const double most = derivatives.abs().max().item<double>();
  ASSERT_GT(most, 1e-3) << "a gradient of zeros shows nothing";
  for (int64_t i = 0; i < values.numel(); ++i) {
    float& value = values.data_ptr<float>()[i];
    const float before = value;
    value = before + static_cast<float>(step);
    const double above = f();
    value = before - static_cast<float>(step);
    const double below = f();
    value = before;
    ASSERT_NEAR(derivatives[i].item<double>(), (above - below) / (2 * step),
                tolerance * std::max(1.0, most))
        << "at " << i;
  }
}

// The sum of a * b in double: with a fixed b, a function to take gradients of.
inline double Product(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) * b.to(at::kDouble)).sum().item<double>();
}

}  // namespace agentr
