// Gradients by central differences, for the tests of hand-written backward passes.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "common/random.h"
#include "training/parameter.h"

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

// The derivative of `f` by `value`, which it reads.
template <typename T>
double Derivative(T& value, const std::function<double()>& f, double step) {
  const T before = value;
  value = before + static_cast<T>(step);
  const double above = f();
  value = before - static_cast<T>(step);
  const double below = f();
  value = before;
  return (above - below) / (2 * step);
}

// The derivatives of `f`, which reads `x`, by each value of `x` are those in `gradient`. T: the
// type of x.
template <typename T = float>
void ExpectGradient(const at::Tensor& x, const at::Tensor& gradient,
                    const std::function<double()>& f, double step = 1e-2, double tolerance = 2e-3) {
  ASSERT_EQ(x.sizes(), gradient.sizes());
  const at::Tensor values = x.view({-1}), derivatives = gradient.reshape({-1});
  const double most = derivatives.abs().max().item<double>();
  ASSERT_GT(most, step / 10) << "a gradient of zeros shows nothing";
  for (int64_t i = 0; i < values.numel(); ++i) {
    ASSERT_NEAR(derivatives[i].item<double>(), Derivative(values.data_ptr<T>()[i], f, step),
                tolerance * std::max(1.0, most))
        << "at " << i;
  }
}

// The largest derivative of each parameter is that of `f` too, up to 3 % and `slack`; small ones
// are left out. Returns the names of the parameters that were compared.
inline std::vector<std::string> ExpectLargestDerivatives(const std::vector<Parameter>& parameters,
                                                         const std::function<double()>& f,
                                                         double step, double slack) {
  std::vector<std::string> compared;
  for (const Parameter& p : parameters) {
    const int64_t at = p.gradient.abs().argmax().item<int64_t>();
    const auto largest = p.gradient.view({-1})[at].item<double>();
    if (std::abs(largest) < 0.2) continue;
    EXPECT_NEAR(Derivative(p.value.data_ptr<float>()[at], f, step), largest,
                0.03 * std::abs(largest) + slack)
        << p.name;
    compared.push_back(p.name);
  }
  return compared;
}

// The sum of a * b in double: with a fixed b, a function to take gradients of.
inline double Product(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) * b.to(at::kDouble)).sum().item<double>();
}

}  // namespace agentr
