// Random matrices for the beginning of a training. The draws are those of RandomStream, so the same
// on every machine up to the last bit of its logarithm and cosine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/random.h"

namespace agentr {

// Independent normal values of this standard deviation (Box and Muller 1958).
std::vector<float> NormalValues(size_t count, double deviation, RandomStream random);

// n x n, row-major.
struct SquareMatrix {
  size_t n;
  std::vector<float> values;

  std::span<const float> Row(size_t i) const { return std::span(values).subspan(i * n, n); }
};

// Orthonormal rows, drawn uniformly: normal ones, made orthogonal one after the other (Gram and
// Schmidt).
SquareMatrix RandomRotation(size_t n, RandomStream random);

}  // namespace agentr
