// Products in tiles, the registers of AMX: up to 16 rows of 64 bytes, of which one instruction
// multiplies two and adds the result to a third. Tiles are named by their numbers; TileShapes gives
// their sizes.

struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void Set(int tile, int64_t tile_rows, int64_t bytes) {
    rows[tile] = static_cast<uint8_t>(tile_rows);
    row_bytes[tile] = static_cast<uint16_t>(bytes);
  }
};
constexpr int kTileHeight = 16;              // rows of a tile
constexpr int kTileBytes = 64;               // of a row
constexpr int kTileArea = 16 * kTileHeight;  // float or int32 sums

// --- bfloat16 ------------------------------------------------------------------------------------

constexpr int kTileDepth = 32;      // pairs of neighbours in a row of 64 bytes
constexpr int64_t kTilePass = 256;  // the depth whose columns stay in the L1 cache

// Four neighbouring tiles of sums, `vecs` of which are wanted, from tiles of A (4) and B (5, 6).
AGENTR_SIMD inline void SumBf16Tiles(const uint16_t* a, int64_t lda, const std::byte* b,
                                     int64_t b_row, int64_t depth, int64_t vecs, float* sums,
                                     int64_t stride) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t k = 0; k < depth; k += kTileDepth, a += kTileDepth, b += kTileDepth / 2 * b_row) {
    _tile_loadd(4, a, lda * 2);
    _tile_loadd(5, b, b_row);
    _tile_dpbf16ps(0, 4, 5);
    if (vecs == 1) continue;
    _tile_loadd(6, b + kTileBytes, b_row);
    _tile_dpbf16ps(1, 4, 6);
    if (vecs == 2) continue;
    _tile_loadd(5, b + 2 * kTileBytes, b_row);
    _tile_dpbf16ps(2, 4, 5);
    if (vecs == 3) continue;
    _tile_loadd(6, b + 3 * kTileBytes, b_row);
    _tile_dpbf16ps(3, 4, 6);
  }
  _tile_stored(0, sums, stride * 4);
  if (vecs > 1) _tile_stored(1, sums + 16, stride * 4);
  if (vecs > 2) _tile_stored(2, sums + 32, stride * 4);
  if (vecs > 3) _tile_stored(3, sums + 48, stride * 4);
}

// The rows begin … begin + groups * rows - 1, in groups of `rows`.
AGENTR_SIMD inline void MultiplyBf16Groups(const MatrixProduct& p, int64_t begin, int64_t groups,
                                           int64_t rows) {
  if (groups == 0) return;
  TileShapes shapes;
  for (int tile = 0; tile < 5; ++tile) shapes.Set(tile, rows, kTileBytes);
  for (int tile = 5; tile < 7; ++tile) shapes.Set(tile, kTileHeight, kTileBytes);
  _tile_loadconfig(&shapes);
  const int64_t panel = (p.panel_stride > 0 ? p.panel_stride : kPanelColumns) * Bf16::kBytes;
  const int64_t b_row = p.ldb * Bf16::kBytes;
  alignas(64) float sums[4 * kTileArea];
  for (int64_t k = 0; k < p.depth; k += kTilePass) {
    const int64_t depth = std::min(kTilePass, p.depth - k);
    for (int64_t column = 0; column < p.columns; column += kPanelColumns) {
      const auto* b =
          static_cast<const std::byte*>(p.b) + column / kPanelColumns * panel + k / 2 * b_row;
      const int64_t vecs = std::min<int64_t>(kPanelColumns, p.columns - column) / 16;
      for (int64_t group = 0; group < groups; ++group) {
        const int64_t row = begin + group * rows;
        const auto* a = static_cast<const uint16_t*>(p.a) + row * p.lda + k;
        float* c = p.c + row * p.ldc + column;
        if (k == 0 && !p.add) {
          SumBf16Tiles(a, p.lda, b, b_row, depth, vecs, c, p.ldc);
          continue;
        }
        SumBf16Tiles(a, p.lda, b, b_row, depth, vecs, sums, kPanelColumns);
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t v = 0; v < vecs * 16; v += kWidth) {
            StoreVec(c + r * p.ldc + v,
                     LoadVec(c + r * p.ldc + v) + LoadVec(sums + r * kPanelColumns + v));
          }
        }
      }
    }
  }
  _tile_release();
}

// Also with one row, so that its result does not depend on how many there are: a tile adds the
// products of even and of odd neighbours on their own. Within a group all rows are computed alike.
AGENTR_SIMD inline void MultiplyBf16Tiles(const MatrixProduct& p) {
  const int64_t groups = (p.rows + kTileHeight - 1) / kTileHeight;
  const int64_t rows = p.rows / groups, larger = p.rows % groups;
  MultiplyBf16Groups(p, 0, larger, rows + 1);
  MultiplyBf16Groups(p, larger * (rows + 1), groups - larger, rows);
}

// --- quantised weights ---------------------------------------------------------------------------

// 32 weights of 16 columns as tiles take them, with their factors.
template <bool kHalves, bool kHasMin>
struct TileBlock {
  BitVec values[8];  // the offset is subtracted
  Vec scales[kHalves ? 2 : 1];
  Vec min;  // with kHasMin
};

constexpr int kTileBlocks = 16;  // unpacked at once, so that they stay in the L1 cache
constexpr int kTileRowBlock = 96;

template <class Q>
AGENTR_SIMD const std::byte* Unpack(const std::byte* b, int64_t blocks,
                                    TileBlock<Q::kHalves, Q::kHasMin>* to) {
  for (int64_t super = 0; super < blocks; super += Q::kSuper) {
    const std::byte* head = b;
    b += Q::kHeadBytes;
    for (int i = 0; i < Q::kSuper; ++i, b += Q::kBlockBytes, ++to) {
#pragma GCC unroll 16
      for (int at = 0; at < Q::kBlockBytes + 63; at += 64) __builtin_prefetch(b + kAhead + at);
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 4
        for (int g = 0; g < 4; ++g) {
          const __m512i group = reinterpret_cast<__m512i>(Q::Group(b, g, half));
          const __m512i offset = _mm512_set1_epi8(static_cast<char>(Q::kOffset));
          to->values[half * 4 + g] = reinterpret_cast<BitVec>(_mm512_sub_epi8(group, offset));
        }
        if (half == 0 || Q::kHalves) to->scales[half] = Q::Scale(head, b, half);
      }
      if constexpr (Q::kHasMin) to->min = Q::Min(head, b);
    }
  }
  return b;
}

// Products of parts that are asked for before their sums are: their way through memory takes longer
// than one part's work.
constexpr int kPartsAhead = 2;

// sums (kRows × 16) += the product of `blocks` blocks of kRows rows, in the order of BlockTile.
template <bool kHalves, bool kHasMin, int kRows>
AGENTR_SIMD void AmxTile(const TileBlock<kHalves, kHasMin>* b, int64_t blocks, const LeftBlock* a,
                         int64_t lda, float* to) {
  constexpr int kParts = kHalves ? 2 : 1;
  alignas(64) int32_t dots[4][kTileArea];
  const int64_t a_row = lda * static_cast<int64_t>(sizeof(LeftBlock));
  const int64_t parts = blocks * kParts;
  const auto multiply = [&](int64_t part) __attribute__((always_inline)) {
    if (part >= parts) return;
    const int8_t* left = a[part / kParts].q + part % kParts * 16;
    const BitVec* right = b[part / kParts].values + part % kParts * 4;
    if (part % 2 == 0) {
      _tile_zero(0);
      _tile_loadd(2, left, a_row);
      _tile_loadd(4, right, kTileBytes);
      _tile_dpbssd(0, 2, 4);
      _tile_stored(0, dots[part % 4], kTileBytes);
    } else {
      _tile_zero(1);
      _tile_loadd(3, left, a_row);
      _tile_loadd(5, right, kTileBytes);
      _tile_dpbssd(1, 3, 5);
      _tile_stored(1, dots[part % 4], kTileBytes);
    }
  };
  Vec sums[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sums[r] = LoadVec(to + r * kWidth);
  for (int i = 0; i < kPartsAhead; ++i) multiply(i);
  for (int64_t block = 0; block < blocks; ++block) {
    const TileBlock<kHalves, kHasMin>& weights = b[block];
    const LeftBlock* left = a + block;
#pragma GCC unroll 2
    for (int half = 0; half < kParts; ++half) {
      const int64_t part = block * kParts + half;
      multiply(part + kPartsAhead);
      const int32_t* products = dots[part % 4];
      const Vec scale = weights.scales[half];
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const IntVec dot = reinterpret_cast<IntVec>(LoadBits(products + r * kWidth));
        sums[r] += Convert(dot) * (scale * left[r * lda].scale);
      }
    }
    if constexpr (kHasMin) {
      const Vec min = weights.min;
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r] += min * left[r * lda].scaled_sum;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) StoreVec(to + r * kWidth, sums[r]);
}

template <bool kHalves, bool kHasMin, size_t... kRow>
constexpr auto AmxTilesOf(std::index_sequence<kRow...>) {
  return std::array{&AmxTile<kHalves, kHasMin, kRow + 1>...};
}

// The sums of whole numbers are those of BlockTile, and floats are added in its order, so that the
// results have the same bits.
template <class Q>
AGENTR_SIMD void MultiplyBlocksInTiles(const BlockProduct& p) {
  // With halves the compiler has no registers for the sums of all 16 rows.
  constexpr int kMaxRows = Q::kHalves ? 12 : kTileHeight;
  static constexpr auto kTiles =
      AmxTilesOf<Q::kHalves, Q::kHasMin>(std::make_index_sequence<kMaxRows>());
  TileBlock<Q::kHalves, Q::kHasMin> unpacked[kTileBlocks];
  alignas(64) float sums[kTileRowBlock * kWidth];
  int64_t shaped = 0;  // the rows for which the tiles have their shape
  for (int column = 0; column < p.columns; column += kWidth) {
    for (int64_t first = 0; first < p.rows; first += kTileRowBlock) {
      const int64_t rows = std::min<int64_t>(kTileRowBlock, p.rows - first);
      std::fill_n(sums, rows * kWidth, 0.0f);
      const std::byte* panel = p.b + column / kWidth * p.panel_bytes;
      for (int64_t block = 0; block < p.blocks; block += kTileBlocks) {
        const int64_t blocks = std::min<int64_t>(kTileBlocks, p.blocks - block);
        panel = Unpack<Q>(panel, blocks, unpacked);
        int64_t groups = (rows + kMaxRows - 1) / kMaxRows;
        for (int64_t row = 0; row < rows; --groups) {
          const int64_t now = (rows - row + groups - 1) / groups;
          if (now != shaped) {
            shaped = now;
            TileShapes shapes;
            constexpr int kBytes = Q::kHalves ? 16 : 32;
            for (const int sum : {0, 1}) shapes.Set(sum, now, kTileBytes);
            for (const int left : {2, 3}) shapes.Set(left, now, kBytes);
            for (const int right : {4, 5}) shapes.Set(right, kBytes / 4, kTileBytes);
            _tile_loadconfig(&shapes);
          }
          kTiles[now - 1](unpacked, blocks, p.a + (first + row) * p.lda + block, p.lda,
                          sums + row * kWidth);
          row += now;
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        float* c = p.c + (first + r) * p.ldc + column;
        const Vec sum = LoadVec(sums + r * kWidth);
        StoreVec(c, p.add ? LoadVec(c) + sum : sum);
      }
    }
  }
  _tile_release();
}

inline void MultiplyWithTiles(WeightType type, const MatrixProduct& p) {
  if (type == WeightType::kBF16 && p.depth % kTileDepth == 0) return MultiplyBf16Tiles(p);
  Multiply(type, p);
}

// From how many rows on it is faster to unpack weights for the tiles.
constexpr int kLeastTileRows = 10;

inline void MultiplyBlocksWithTiles(WeightType type, const BlockProduct& p) {
  if (p.rows < kLeastTileRows) return MultiplyBlocks(type, p);
  ForBlocksOf(type, [&]<class Q>() { MultiplyBlocksInTiles<Q>(p); });
}
