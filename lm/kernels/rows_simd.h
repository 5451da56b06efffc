// Loops over rows of activations.

AGENTR_SIMD inline void RmsNorm(const float* x, const float* weight, float epsilon, int n,
                                float* y) {
  Vec squares = {};
  for (int i = 0; i < n; i += kWidth) {
    const Vec v = LoadVec(x + i, n - i);
    squares += v * v;
  }
  const float scale = 1 / std::sqrt(Sum(squares) / static_cast<float>(n) + epsilon);
  for (int i = 0; i < n; i += kWidth) {
    StoreVec(y + i, LoadVec(x + i, n - i) * scale * LoadVec(weight + i, n - i), n - i);
  }
}

AGENTR_SIMD inline void SwiGlu(const float* gate, const float* up, int n, float* y) {
  for (int i = 0; i < n; i += kWidth) {
    const Vec g = LoadVec(gate + i, n - i);
    StoreVec(y + i, g / (1 + Exp(-g)) * LoadVec(up + i, n - i), n - i);
  }
}

// x (1 + tanh u) / 2 = x / (1 + e^(-2u)) with u = sqrt(2 / pi) (x + 0.044715 x^3).
AGENTR_SIMD inline void GeGlu(const float* gate, const float* up, int n, float* y) {
  for (int i = 0; i < n; i += kWidth) {
    const Vec g = LoadVec(gate + i, n - i);
    const Vec exponent = g * (1 + 0.044715f * g * g) * -1.5957691216f;
    StoreVec(y + i, g / (1 + Exp(exponent)) * LoadVec(up + i, n - i), n - i);
  }
}

AGENTR_SIMD inline double Exponentials(float* x, int n, float greatest, float factor) {
  constexpr int kSumInFloat32 = 256;
  double total = 0;
  for (int begin = 0; begin < n; begin += kSumInFloat32) {
    Vec sum = {};
    for (int i = begin; i < std::min(n, begin + kSumInFloat32); i += kWidth) {
      const Vec y = Exp((LoadVec(x + i) - greatest) * factor);
      StoreVec(x + i, y);
      sum += y;
    }
    total += Sum(sum);
  }
  return total;
}

AGENTR_SIMD inline void Rotate(float* head, const float* cos, const float* sin, int half) {
  for (int i = 0; i < half; i += kWidth) {
    const int count = half - i;
    const Vec a = LoadVec(head + i, count), b = LoadVec(head + half + i, count);
    const Vec c = LoadVec(cos + i, count), s = LoadVec(sin + i, count);
    StoreVec(head + i, a * c - b * s, count);
    StoreVec(head + half + i, b * c + a * s, count);
  }
}

AGENTR_SIMD inline void RoundLeft(const float* x, int n, void* y) {
  for (int i = 0; i < n; i += kWidth) {
    const Vec values = LoadVec(x + i, n - i);
#if AGENTR_BF16
    StoreHalf(static_cast<uint16_t*>(y) + i, ToBf16(values), n - i);
#else
    StoreVec(static_cast<float*>(y) + i, reinterpret_cast<Vec>(RoundBf16(values)), n - i);
#endif
  }
}

// To the nearest whole number, ties to even, of numbers below 2^22.
AGENTR_INLINE IntVec Round(Vec x) { return reinterpret_cast<IntVec>(x + 0x1.8p23f) - 0x4B400000; }

AGENTR_SIMD inline void QuantiseLeft(const float* x, int n, LeftBlock* y) {
  constexpr int kVecs = kLeftBlock / kWidth;
  for (int i = 0; i < n; i += kLeftBlock, ++y) {
    Vec values[kVecs], greatest = {};
    for (int v = 0; v < kVecs; ++v) {
      values[v] = LoadVec(x + i + v * kWidth, std::max(0, n - i - v * kWidth));
      greatest = Greater::Of(greatest, Greater::Of(values[v], -values[v]));
    }
    const float most = Max(greatest);
    y->scale = most / 127;
    const float inverse = most > 0 ? 127 / most : 0;
    IntVec sums[2] = {};
    for (int v = 0; v < kVecs; ++v) {
      const IntVec q = Round(values[v] * inverse);
      const ByteVec bytes = __builtin_convertvector(q, ByteVec);
      std::memcpy(y->q + v * kWidth, &bytes, kWidth);
      sums[v * kWidth / (kLeftBlock / 2)] += q;
    }
    y->half_sums[0] = static_cast<int32_t>(Sum(Convert(sums[0])));
    y->half_sums[1] = static_cast<int32_t>(Sum(Convert(sums[1])));
    y->scaled_sum = y->scale * static_cast<float>(y->half_sums[0] + y->half_sums[1]);
  }
}
