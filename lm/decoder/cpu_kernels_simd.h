// The kernels of one instruction set. cpu_kernels.cc includes this file in one namespace for each,
// so it has no include guard. The includer defines AGENTR_SIMD, the attribute of every function,
// and AGENTR_SIMD_LEVEL: 0 portable, 1 AVX2, 2 AVX512, 3 with BF16. The vectors are GCC's, 16
// floats wide on every machine; the compiler splits them if registers are narrower.

#define AGENTR_INLINE AGENTR_SIMD inline __attribute__((always_inline))

typedef float Vec __attribute__((vector_size(64)));
typedef int32_t IntVec __attribute__((vector_size(64)));
typedef uint32_t BitVec __attribute__((vector_size(64)));
typedef uint16_t HalfVec __attribute__((vector_size(32)));
typedef float Vec8 __attribute__((vector_size(32)));
typedef float Vec4 __attribute__((vector_size(16)));
// The same in memory, of any alignment and type.
typedef float LooseVec __attribute__((vector_size(64), aligned(2), may_alias));
typedef uint32_t LooseBits __attribute__((vector_size(64), aligned(2), may_alias));
typedef uint16_t LooseHalf __attribute__((vector_size(32), aligned(2), may_alias));

AGENTR_INLINE Vec LoadVec(const float* from) { return *reinterpret_cast<const LooseVec*>(from); }
AGENTR_INLINE void StoreVec(float* to, Vec value) { *reinterpret_cast<LooseVec*>(to) = value; }

// Loads the first `count` of the 16 values; the others are 0.
AGENTR_INLINE Vec LoadVec(const float* from, int count) {
  if (count >= kLanes) return LoadVec(from);
  Vec value = {};
  std::memcpy(&value, from, count * sizeof(float));
  return value;
}

AGENTR_INLINE void StoreVec(float* to, Vec value, int count) {
  if (count >= kLanes) return StoreVec(to, value);
  std::memcpy(to, &value, count * sizeof(float));
}

AGENTR_INLINE float Sum(Vec v) {
  const auto [a, b] = std::bit_cast<std::array<Vec8, 2>>(v);
  const auto [c, d] = std::bit_cast<std::array<Vec4, 2>>(a + b);
  const Vec4 e = c + d;
  return (e[0] + e[2]) + (e[1] + e[3]);
}

AGENTR_INLINE float Max(Vec v) {
  const auto [a, b] = std::bit_cast<std::array<Vec8, 2>>(v);
  const auto [c, d] = std::bit_cast<std::array<Vec4, 2>>(a > b ? a : b);
  const Vec4 e = c > d ? c : d;
  return std::max(std::max(e[0], e[2]), std::max(e[1], e[3]));
}

// e^x to 2 ulp; 0 below -87, e^88 above 88. x = n ln 2 + r with |r| <= ln 2 / 2, and a Taylor
// series for e^r.
AGENTR_INLINE Vec Exp(Vec x) {
  const Vec bounded = x > 88.0f ? Vec{} + 88.0f : (x < -87.0f ? Vec{} - 87.0f : x);
  const Vec shifted = bounded * 1.44269504f + 0x1.8p23f;  // the sum rounds to a whole number
  const Vec n = shifted - 0x1.8p23f;
  const Vec r = (bounded - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  Vec series = r * (1.0f / 5040) + 1.0f / 720;
  series = series * r + 1.0f / 120;
  series = series * r + 1.0f / 24;
  series = series * r + 1.0f / 6;
  series = series * r + 0.5f;
  series = series * r + 1.0f;
  series = series * r + 1.0f;
  const Vec power = reinterpret_cast<Vec>((reinterpret_cast<BitVec>(shifted) << 23) + 0x3F800000u);
  return x < -87.0f ? Vec{} : series * power;
}

AGENTR_INLINE HalfVec ToBf16(Vec x) {
  const BitVec bits = reinterpret_cast<BitVec>(x);
  const BitVec rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return __builtin_convertvector(x == x ? rounded : (bits >> 16 | 0x40), HalfVec);
}

// --- products ------------------------------------------------------------------------------------

// The operations of a tile at each step in depth, by the type of B. kBytes: bytes of B per step and
// column.
struct F32 {
  using Left = float;
  using Right = Vec;
  static constexpr int kDepth = 1, kBytes = 4;
  AGENTR_INLINE static Vec Load(const std::byte* b) {
    return *reinterpret_cast<const LooseVec*>(b);
  }
  AGENTR_INLINE static void Add(Vec& sum, const float* a, Vec b) { sum += *a * b; }
};

struct F16 {
  using Left = float;
  using Right = Vec;
  static constexpr int kDepth = 1, kBytes = 2;
  AGENTR_INLINE static Vec Load(const std::byte* b) {  // an infinity becomes 65536
    const BitVec bits = __builtin_convertvector(*reinterpret_cast<const LooseHalf*>(b), BitVec);
    const Vec magnitude = reinterpret_cast<Vec>((bits & 0x7FFF) << 13) * 0x1p112f;
    return reinterpret_cast<Vec>(reinterpret_cast<BitVec>(magnitude) | (bits & 0x8000) << 16);
  }
  AGENTR_INLINE static void Add(Vec& sum, const float* a, Vec b) { sum += *a * b; }
};

struct Bf16 {
  using Left = uint16_t;
  using Right = BitVec;  // pairs
  static constexpr int kDepth = 2, kBytes = 4;
  AGENTR_INLINE static BitVec Load(const std::byte* b) {
    return *reinterpret_cast<const LooseBits*>(b);
  }
  AGENTR_INLINE static void Add(Vec& sum, const uint16_t* a, BitVec b) {
    uint32_t pair;
    std::memcpy(&pair, a, sizeof pair);
#if AGENTR_SIMD_LEVEL >= 3
    const __m512i left = _mm512_set1_epi32(static_cast<int>(pair));
    sum = reinterpret_cast<Vec>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(sum),
                                                 reinterpret_cast<__m512bh>(left),
                                                 reinterpret_cast<__m512bh>(b)));
#else
    sum += std::bit_cast<float>(pair << 16) * reinterpret_cast<Vec>(b << 16);
    sum += std::bit_cast<float>(pair & 0xFFFF0000) * reinterpret_cast<Vec>(b & 0xFFFF0000);
#endif
  }
};

// The size of the tile of C that stays in registers: kMaxRows × kMaxVecs vectors. Registers for A
// and B must be left over.
#if AGENTR_SIMD_LEVEL >= 2
constexpr int kMaxRows = 6, kMaxVecs = 4;
#elif AGENTR_SIMD_LEVEL == 1
constexpr int kMaxRows = 4, kMaxVecs = 1;
#else
constexpr int kMaxRows = 2, kMaxVecs = 1;
#endif

struct TilePlace {
  int64_t row, column, begin, end;  // begin … end: in depth
  bool add;
};
using TileFunction = void (*)(const MatrixProduct&, const TilePlace&);

template <class F, int kRows, int kVecs>
AGENTR_SIMD void Tile(const MatrixProduct& p, const TilePlace& at) {
  Vec sums[kRows][kVecs] = {};
  const auto* a = static_cast<const typename F::Left*>(p.a) + at.row * p.lda + at.begin * p.a_step;
  const std::byte* b =
      static_cast<const std::byte*>(p.b) + (at.begin / F::kDepth * p.ldb + at.column) * F::kBytes;
  for (int64_t k = at.begin; k < at.end; k += F::kDepth) {
    typename F::Right right[kVecs];
    for (int v = 0; v < kVecs; ++v) right[v] = F::Load(b + v * kLanes * F::kBytes);
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVecs; ++v) F::Add(sums[r][v], a + r * p.lda, right[v]);
    }
    a += F::kDepth * p.a_step;
    b += p.ldb * F::kBytes;
  }
  // Unrolled, so that the sums stay in registers.
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    float* c = p.c + (at.row + r) * p.ldc + at.column;
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v, c += kLanes) {
      StoreVec(c, at.add ? LoadVec(c) + sums[r][v] : sums[r][v]);
    }
  }
}

template <class F, int kVecs, size_t... kRow>
constexpr std::array<TileFunction, sizeof...(kRow)> Tiles(std::index_sequence<kRow...>) {
  return {&Tile<F, kRow + 1, kVecs>...};
}

template <class F, int kVecs>
AGENTR_SIMD void MultiplyColumns(const MatrixProduct& p, TilePlace at) {
  static constexpr auto kTiles = Tiles<F, kVecs>(std::make_index_sequence<kMaxRows>());
  int groups = (p.rows + kMaxRows - 1) / kMaxRows;
  for (at.row = 0; at.row < p.rows; --groups) {
    const int64_t rows = (p.rows - at.row + groups - 1) / groups;
    kTiles[rows - 1](p, at);
    at.row += rows;
  }
}

template <class F>
AGENTR_SIMD void MultiplyAs(const MatrixProduct& p) {
  for (int64_t begin = 0; begin < p.depth; begin += p.pass) {
    TilePlace at{0, 0, begin, std::min(begin + p.pass, p.depth), p.add || begin > 0};
    while (at.column < p.columns) {
      const int64_t vecs = (p.columns - at.column) / kLanes;
      if (kMaxVecs >= 4 && vecs >= 4) {
        MultiplyColumns<F, std::min(4, kMaxVecs)>(p, at);
        at.column += 4 * kLanes;
      } else if (kMaxVecs >= 2 && vecs >= 2) {
        MultiplyColumns<F, std::min(2, kMaxVecs)>(p, at);
        at.column += 2 * kLanes;
      } else {
        MultiplyColumns<F, 1>(p, at);
        at.column += kLanes;
      }
    }
  }
}

inline void Multiply(WeightType type, const MatrixProduct& p) {
  switch (type) {
    case WeightType::kF32:
      return MultiplyAs<F32>(p);
    case WeightType::kF16:
      return MultiplyAs<F16>(p);
    case WeightType::kBF16:
      return MultiplyAs<Bf16>(p);
  }
}

// --- rows ----------------------------------------------------------------------------------------

AGENTR_SIMD inline void RmsNorm(const float* x, const float* weight, float epsilon, int n,
                                float* y) {
  Vec squares = {};
  for (int i = 0; i < n; i += kLanes) {
    const Vec v = LoadVec(x + i, n - i);
    squares += v * v;
  }
  const float scale = 1 / std::sqrt(Sum(squares) / static_cast<float>(n) + epsilon);
  for (int i = 0; i < n; i += kLanes) {
    StoreVec(y + i, LoadVec(x + i, n - i) * scale * LoadVec(weight + i, n - i), n - i);
  }
}

AGENTR_SIMD inline void SwiGlu(const float* gate, const float* up, int n, float* y) {
  for (int i = 0; i < n; i += kLanes) {
    const Vec g = LoadVec(gate + i, n - i);
    StoreVec(y + i, g / (1 + Exp(-g)) * LoadVec(up + i, n - i), n - i);
  }
}

AGENTR_SIMD inline void Rotate(float* head, const float* cos, const float* sin, int half) {
  for (int i = 0; i < half; ++i) {
    const float a = head[i], b = head[i + half];
    head[i] = a * cos[i] - b * sin[i];
    head[i + half] = b * cos[i] + a * sin[i];
  }
}

AGENTR_SIMD inline void Narrow(const float* x, int n, uint16_t* y) {
  for (int i = 0; i < n; i += kLanes) {
    const HalfVec half = ToBf16(LoadVec(x + i, n - i));
    std::memcpy(y + i, &half, std::min(kLanes, n - i) * sizeof(uint16_t));
  }
}

// --- attention -----------------------------------------------------------------------------------

// Rows of a tile are (token, head), heads first.
struct AttentionScratch {
  alignas(64) float queries[kTileRows * kMaxHeadDim];
  alignas(64) float mixed[kTileRows * kMaxHeadDim];
  alignas(64) float shares[kTileRows * kKeyBlock];
  alignas(64) uint16_t narrow_queries[kTileRows * kMaxHeadDim];
  alignas(64) uint16_t narrow_shares[kTileRows * kKeyBlock];
  float highest[kTileRows];  // highest score so far
  float total[kTileRows];    // of e^(score - highest)
};

// Turns the scores of one row for a block into shares e^(score - highest). The positions low … high
// - 1 of the block are visible, at least one.
AGENTR_SIMD inline void WeighScores(AttentionScratch& s, int row, int low, int high, int width) {
  static_assert(kKeyBlock == 2 * kLanes);
  constexpr IntVec kFirst = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  constexpr IntVec kSecond = kFirst + kLanes;
  const Vec never = Vec{} - std::numeric_limits<float>::infinity();
  float* shares = s.shares + row * kKeyBlock;
  const Vec a = ((kFirst >= low) & (kFirst < high)) ? LoadVec(shares) : never;
  const Vec b = ((kSecond >= low) & (kSecond < high)) ? LoadVec(shares + kLanes) : never;
  const float highest = std::max(s.highest[row], Max(a > b ? a : b));
  if (highest > s.highest[row]) {
    const float keep = Exp(Vec{} + (s.highest[row] - highest))[0];
    s.highest[row] = highest;
    s.total[row] *= keep;
    float* mixed = s.mixed + row * width;
    for (int i = 0; i < width; i += kLanes) StoreVec(mixed + i, LoadVec(mixed + i) * keep);
  }
  const Vec share_a = Exp(a - highest), share_b = Exp(b - highest);
  s.total[row] += Sum(share_a + share_b);
  StoreVec(shares, share_a);
  StoreVec(shares + kLanes, share_b);
}

AGENTR_SIMD inline void Attend(const AttentionTask& t) {
  AttentionScratch s;
  const bool narrow = t.type == WeightType::kBF16;
  const int rows = t.tokens * t.heads;
  const int width = (t.head_dim + kLanes - 1) / kLanes * kLanes;
  const float scale = 1 / std::sqrt(static_cast<float>(t.head_dim));
  for (int row = 0; row < rows; ++row) {
    const float* query = t.queries + row / t.heads * t.query_stride + row % t.heads * t.head_dim;
    float* scaled = s.queries + row * width;
    for (int i = 0; i < t.head_dim; ++i) scaled[i] = query[i] * scale;
    if (narrow) Narrow(scaled, t.head_dim, s.narrow_queries + row * width);
    std::fill_n(s.mixed + row * width, width, 0.0f);
    s.highest[row] = -std::numeric_limits<float>::infinity();
    s.total[row] = 0;
  }
  const int end = t.start + t.tokens;
  const int begin = t.window > 0 ? std::max(0, t.start + 1 - t.window) : 0;
  for (int first = begin / kKeyBlock * kKeyBlock; first < end; first += kKeyBlock) {
    const int64_t block = t.blocks[first / kKeyBlock] * t.block_bytes;
    if (first + kKeyBlock < end) {  // prefetch, because the next block can be anywhere in memory
      const int64_t next = t.blocks[first / kKeyBlock + 1] * t.block_bytes;
      const int64_t bytes = kKeyBlock * width * static_cast<int64_t>(Bytes(t.type));
      for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(t.keys + next + i, 0, 2);
      for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(t.values + next + i, 0, 2);
    }
    Multiply(t.type, {narrow ? static_cast<const void*>(s.narrow_queries) : s.queries, width, rows,
                      t.keys + block, kKeyBlock, t.head_dim, s.shares, kKeyBlock, kKeyBlock});
    for (int row = 0; row < rows; ++row) {
      const int position = t.start + row / t.heads;
      const int low = t.window > 0 ? std::max(0, position + 1 - t.window - first) : 0;
      const int high = std::min(position + 1 - first, kKeyBlock);
      float* shares = s.shares + row * kKeyBlock;
      if (low < high) {
        WeighScores(s, row, low, high, width);
      } else {
        std::fill_n(shares, kKeyBlock, 0.0f);
      }
      if (narrow) Narrow(shares, kKeyBlock, s.narrow_shares + row * kKeyBlock);
    }
    // Values that no token sees yet are not read, because they may be uninitialised.
    const int seen = std::min(end - first, kKeyBlock);
    Multiply(t.type, {narrow ? static_cast<const void*>(s.narrow_shares) : s.shares, kKeyBlock,
                      rows, t.values + block, width, narrow ? (seen + 1) / 2 * 2 : seen, s.mixed,
                      width, width, /*add=*/true});
  }
  for (int row = 0; row < rows; ++row) {
    float* mixed = t.mixed + row / t.heads * t.mixed_stride + row % t.heads * t.head_dim;
    for (int i = 0; i < t.head_dim; ++i) mixed[i] = s.mixed[row * width + i] / s.total[row];
  }
}

constexpr CpuKernels kKernels = {&Multiply, &RmsNorm, &SwiGlu, &Rotate, &Narrow, &Attend};

#undef AGENTR_INLINE
