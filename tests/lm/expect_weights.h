#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "lm/weights/model_config.h"
#include "lm/weights/quantised.h"

namespace agentr {

// The model has these weights, up to `error`, which is relative to values above 1.
inline void ExpectWeights(const std::filesystem::path& model, const WeightSource& expected,
                          double error) {
  const auto written = OpenWeights(model);
  ASSERT_EQ(written->weights().size(), expected.weights().size());
  for (const auto& [name, weight] : expected.weights()) {
    const Weight& other = written->weights().at(name);
    ASSERT_EQ(other.shape, weight.shape) << name;
    const std::vector<float> values = ReadWeight(weight), got = ReadWeight(other);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], values[i], error * std::max(1.0f, std::abs(values[i]))) << name;
    }
  }
}

}  // namespace agentr
