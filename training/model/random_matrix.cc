#include "training/model/random_matrix.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace agentr {

std::vector<float> NormalValues(size_t count, double deviation, RandomStream random) {
  std::vector<float> values(count);
  for (float& value : values) {
    const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
    const double angle = 2 * std::numbers::pi * random.Uniform();
    value = static_cast<float>(deviation * radius * std::cos(angle));
  }
  return values;
}

SquareMatrix RandomRotation(size_t n, RandomStream random) {
  SquareMatrix matrix{n, NormalValues(n * n, 1, random)};
  for (size_t i = 0; i < n; ++i) {
    const std::span<float> row = std::span(matrix.values).subspan(i * n, n);
    // Twice: once leaves what float32 rounds away.
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t j = 0; j < i; ++j) {
        const std::span<const float> other = matrix.Row(j);
        const double part = std::inner_product(row.begin(), row.end(), other.begin(), 0.0);
        for (size_t k = 0; k < n; ++k) row[k] -= static_cast<float>(part * other[k]);
      }
    }
    const double norm = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    for (float& value : row) value = static_cast<float>(value / norm);
  }
  return matrix;
}

}  // namespace agentr
