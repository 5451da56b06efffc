// tests/golden/rl/losses.json: the losses of learning from reward as PyTorch computes them in
// float64, and their inputs, which are closed formulas.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/file.h"

namespace agentr::golden_losses {

using at::Tensor;
using nlohmann::json;

inline const json& GoldenLosses() {
  static const json golden =
      json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/rl/losses.json"));
  return golden;
}

// The inputs of the goldens: scale * sin(a k + b) at the flat index k.
inline Tensor Fill(at::IntArrayRef shape, double a, double b, double scale = 1) {
  Tensor t = at::empty(shape, at::kDouble);
  for (int64_t k = 0; k < t.numel(); ++k) {
    t.data_ptr<double>()[k] = scale * std::sin(a * static_cast<double>(k) + b);
  }
  return t;
}

inline Tensor Doubles(const std::vector<double>& values) {
  return at::tensor(at::ArrayRef<double>(values), at::kDouble);
}
inline Tensor Longs(const std::vector<int64_t>& values) {
  return at::tensor(at::ArrayRef<int64_t>(values), at::kLong);
}
inline std::vector<double> Flat(const json& value) {
  if (value.is_number()) return {value.get<double>()};
  std::vector<double> all;
  for (const json& part : value) {
    const std::vector<double> inner = Flat(part);
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}
inline Tensor Vector(const json& value) { return Doubles(Flat(value)); }

inline void ExpectNear(const Tensor& value, const json& golden, double tolerance = 1e-10) {
  const std::vector<double> expected = Flat(golden);
  const Tensor flat = value.reshape({-1}).to(at::kDouble).contiguous();
  ASSERT_EQ(flat.numel(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat.data_ptr<double>()[i], expected[i],
                tolerance * std::max(1.0, std::abs(expected[i])))
        << "at " << i;
  }
}
inline void ExpectNear(double value, const json& golden, double tolerance = 1e-10) {
  ExpectNear(Doubles({value}), golden, tolerance);
}

}  // namespace agentr::golden_losses
