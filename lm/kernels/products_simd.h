// Products with float weights. C is computed in tiles whose sums stay in registers: kRows rows by
// kVecs vectors.

struct TilePlace {
  int64_t row, column, begin, end;  // begin … end: in depth
  bool add;
};

// The vectors of a tile with 1, 2 … rows: the sums, values of B and of A fit into the registers,
// and few rows still have enough sums that need not wait for one another.
#if AGENTR_WIDTH == 16
constexpr std::array kF32Vecs = {8, 8, 8, 4, 4, 4};
constexpr std::array kBf16Vecs = {8, 8, 4, 4, 4};
#elif AGENTR_WIDTH == 8
constexpr std::array kF32Vecs = {8, 4, 4, 2, 2, 2};
constexpr std::array kBf16Vecs = {8, 4, 2, 2};
#elif defined(__aarch64__)
constexpr std::array kF32Vecs = {8, 8, 4, 4, 4, 4};
constexpr std::array kBf16Vecs = {8, 4, 4, 4, 2};
#else
constexpr std::array kF32Vecs = {8, 4, 2, 2};
constexpr std::array kBf16Vecs = {4, 2, 2};
#endif

// What a tile does at each step in depth, by the type of B. kDepth: rows of B in a step; kBytes:
// bytes of B per step and column.
struct F32 {
  using Left = float;
  using Right = Vec;
  static constexpr int kDepth = 1, kBytes = 4;
  static constexpr auto& kVecs = kF32Vecs;
  AGENTR_INLINE static Vec Load(const std::byte* b) { return LoadVec(b); }
  AGENTR_INLINE static Left Broadcast(const float* a) { return *a; }
  AGENTR_INLINE static void Add(Vec& sum, Left a, Vec b) { sum += a * b; }
};

struct F16 : F32 {
  static constexpr int kBytes = 2;
  AGENTR_INLINE static Vec Load(const std::byte* b) { return FromF16(b); }
};

struct Int8 : F32 {
  static constexpr int kBytes = 1;
  AGENTR_INLINE static Vec Load(const std::byte* b) { return Convert(FromBytesWithSigns(b)); }
};

#if AGENTR_BF16
struct Bf16 {
  using Left = uint16_t;
  using Right = BitVec;  // pairs
  static constexpr int kDepth = 2, kBytes = 4;
  static constexpr auto& kVecs = kF32Vecs;
  AGENTR_INLINE static BitVec Load(const std::byte* b) {
    return *reinterpret_cast<const LooseBits*>(b);
  }
  AGENTR_INLINE static uint32_t Broadcast(const uint16_t* a) {
    uint32_t pair;
    std::memcpy(&pair, a, sizeof pair);
    return pair;
  }
  AGENTR_INLINE static void Add(Vec& sum, uint32_t a, BitVec b) {
    sum = AddPairs(sum, BitVec{} + a, b);
  }
};
#else
// Without instructions for bfloat16 A is float32, and B is widened.
struct Bf16 {
  using Left = float;
  struct Right {
    Vec first, second;
  };
  struct Pair {
    float first, second;
  };
  static constexpr int kDepth = 2, kBytes = 4;
  static constexpr auto& kVecs = kBf16Vecs;
  AGENTR_INLINE static Right Load(const std::byte* b) {
    const BitVec pairs = *reinterpret_cast<const LooseBits*>(b);
    return {reinterpret_cast<Vec>(pairs << 16), reinterpret_cast<Vec>(pairs & 0xFFFF0000u)};
  }
  AGENTR_INLINE static Pair Broadcast(const float* a) { return {a[0], a[1]}; }
  AGENTR_INLINE static void Add(Vec& sum, Pair a, const Right& b) {
    sum += a.first * b.first;
    sum += a.second * b.second;
  }
};
#endif

using TileFunction = void (*)(const MatrixProduct&, const TilePlace&);

// Vector v of a row of B; `panel` is the distance of panels in bytes.
template <class F>
AGENTR_INLINE typename F::Right LoadRight(const std::byte* b, int v, int64_t panel) {
  constexpr int kPanelVecs = kPanelColumns / kWidth;
  return F::Load(b + v / kPanelVecs * panel + v % kPanelVecs * kWidth * F::kBytes);
}

template <class F, int kRows, int kVecs>
AGENTR_SIMD void Tile(const MatrixProduct& p, const TilePlace& at) {
  Vec sums[kRows][kVecs] = {};
  const auto* a = static_cast<const typename F::Left*>(p.a) + at.row * p.lda + at.begin * p.a_step;
  const int64_t panel = (p.panel_stride > 0 ? p.panel_stride : kPanelColumns) * F::kBytes;
  const std::byte* b = static_cast<const std::byte*>(p.b) + at.column / kPanelColumns * panel +
                       (at.begin / F::kDepth * p.ldb + at.column % kPanelColumns) * F::kBytes;
  for (int64_t k = at.begin; k < at.end; k += F::kDepth) {
    // Of A and B, the one with fewer values stays in registers.
    if constexpr (kRows > kVecs) {
      typename F::Right right[kVecs];
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) right[v] = LoadRight<F>(b, v, panel);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const auto left = F::Broadcast(a + r * p.lda);
#pragma GCC unroll 8
        for (int v = 0; v < kVecs; ++v) F::Add(sums[r][v], left, right[v]);
      }
    } else {
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) {
        const auto right = LoadRight<F>(b, v, panel);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) F::Add(sums[r][v], F::Broadcast(a + r * p.lda), right);
      }
    }
    a += F::kDepth * p.a_step;
    b += p.ldb * F::kBytes;
  }
  // Unrolled, so that the sums stay in registers.
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    float* c = p.c + (at.row + r) * p.ldc + at.column;
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v, c += kWidth) {
      StoreVec(c, at.add ? LoadVec(c) + sums[r][v] : sums[r][v]);
    }
  }
}

// The tiles of kVecs vectors by their rows - 1; null where so many sums have no room.
template <class F, int kVecs, size_t... kRow>
constexpr std::array<TileFunction, sizeof...(kRow)> TilesOf(std::index_sequence<kRow...>) {
  constexpr auto tile = []<int kRows>() -> TileFunction {
    if constexpr (F::kVecs[kRows - 1] >= kVecs) return &Tile<F, kRows, kVecs>;
    return nullptr;
  };
  return {tile.template operator()<static_cast<int>(kRow) + 1>()...};
}
template <class F, int kVecs>
constexpr auto kTiles = TilesOf<F, kVecs>(std::make_index_sequence<F::kVecs.size()>());

// Computes kVecs vectors of columns for all rows, in groups that are as large as each other.
template <class F, int kVecs>
AGENTR_SIMD void MultiplyColumns(const MatrixProduct& p, TilePlace at, int groups) {
  for (at.row = 0; at.row < p.rows; --groups) {
    const int64_t rows = (p.rows - at.row + groups - 1) / groups;
    kTiles<F, kVecs>[rows - 1](p, at);
    at.row += rows;
  }
}

template <class F>
AGENTR_SIMD void MultiplyAs(const MatrixProduct& p) {
  constexpr int kMaxRows = F::kVecs.size();
  const int groups = (p.rows + kMaxRows - 1) / kMaxRows;
  const int vecs = F::kVecs[(p.rows + groups - 1) / groups - 1];
  for (int64_t begin = 0; begin < p.depth; begin += p.pass) {
    TilePlace at{0, 0, begin, std::min(begin + p.pass, p.depth), p.add || begin > 0};
    while (at.column < p.columns) {
      const int64_t most = std::min<int64_t>(vecs, (p.columns - at.column) / kWidth);
      const int now = most >= 8 ? 8 : most >= 4 ? 4 : most >= 2 ? 2 : 1;
      if (now == 8) MultiplyColumns<F, 8>(p, at, groups);
      if (now == 4) MultiplyColumns<F, 4>(p, at, groups);
      if (now == 2) MultiplyColumns<F, 2>(p, at, groups);
      if (now == 1) MultiplyColumns<F, 1>(p, at, groups);
      at.column += now * kWidth;
    }
  }
}

inline void Multiply(WeightType type, const MatrixProduct& p) {
  switch (type) {
    case WeightType::kF32:
      return MultiplyAs<F32>(p);
    case WeightType::kF16:
      return MultiplyAs<F16>(p);
    case WeightType::kQ8_0:
      return MultiplyAs<Int8>(p);
    default:
      return MultiplyAs<Bf16>(p);
  }
}
