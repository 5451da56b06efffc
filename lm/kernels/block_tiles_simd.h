// Products with quantised weights in tiles (tiles_simd.h), with the bits of BlockTile.

// 32 weights of 16 columns as tiles take them, with their factors.
template <bool kWithHalves, bool kWithMin>
struct TileBlock {
  static constexpr int kParts = kWithHalves ? 2 : 1;  // with scales of their own
  static constexpr bool kHasMin = kWithMin;
  BitVec values[8];  // the offset is subtracted
  Vec scales[kParts];
  Vec min;  // with kHasMin
};
template <class Q>
using TileBlockOf = TileBlock<Q::kHalves, Q::kHasMin>;

constexpr int kTileBlocks = 16;    // unpacked at once, so that they stay in the L1 cache
constexpr int kTileRowBlock = 96;  // rows whose sums are kept beside them

template <class Q>
AGENTR_SIMD const std::byte* Unpack(const std::byte* b, int64_t blocks, TileBlockOf<Q>* to) {
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

// The products of 32 or, with halves, 16 neighbours in depth as whole numbers. Neighbours alternate
// between two sets of tiles for sums, A and B.
template <int kSet>
AGENTR_INLINE void StoreByteSums(const int8_t* left, int64_t left_row, const BitVec* right,
                                 int32_t* to) {
  ZeroTile<kSet>();
  LoadTile<2 + kSet>(left, left_row);
  LoadTile<4 + kSet>(right, kTileBytes);
  AddByteTiles<kSet, 2 + kSet, 4 + kSet>();
  StoreTile<kSet>(to, kTileBytes);
}

template <class Block>
struct ByteSums {
  static constexpr int kParts = Block::kParts;  // of a block
  const Block* b;
  const LeftBlock* a;
  int64_t a_row;
  int64_t parts;
  alignas(64) int32_t sums[4][kTileHeight * kWidth];

  AGENTR_INLINE void Ask(int64_t part) {
    if (part >= parts) return;
    const int8_t* left = a[part / kParts].q + part % kParts * 16;
    const BitVec* right = b[part / kParts].values + part % kParts * 4;
    if (part % 2 == 0) {
      StoreByteSums<0>(left, a_row, right, sums[part % 4]);
    } else {
      StoreByteSums<1>(left, a_row, right, sums[part % 4]);
    }
  }
};

// sums (kRows × 16) += the product of `blocks` blocks of kRows rows, in the order of BlockTile.
template <class Block, int kRows>
AGENTR_SIMD void AmxTile(const Block* b, int64_t blocks, const LeftBlock* a, int64_t lda,
                         float* to) {
  constexpr int kParts = Block::kParts;
  ByteSums<Block> products;
  products.b = b;
  products.a = a;
  products.a_row = lda * static_cast<int64_t>(sizeof(LeftBlock));
  products.parts = blocks * kParts;
  Vec sums[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sums[r] = LoadVec(to + r * kWidth);
  for (int i = 0; i < kPartsAhead; ++i) products.Ask(i);
  for (int64_t block = 0; block < blocks; ++block) {
    const Block& weights = b[block];
    const LeftBlock* left = a + block;
#pragma GCC unroll 2
    for (int half = 0; half < kParts; ++half) {
      const int64_t part = block * kParts + half;
      products.Ask(part + kPartsAhead);
      const int32_t* dots = products.sums[part % 4];
      const Vec scale = weights.scales[half];
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const IntVec dot = reinterpret_cast<IntVec>(LoadBits(dots + r * kWidth));
        sums[r] += Convert(dot) * (scale * left[r * lda].scale);
      }
    }
    if constexpr (Block::kHasMin) {
      const Vec min = weights.min;
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r] += min * left[r * lda].scaled_sum;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) StoreVec(to + r * kWidth, sums[r]);
}

template <class Block, size_t... kRow>
constexpr auto AmxTilesOf(std::index_sequence<kRow...>) {
  return std::array{&AmxTile<Block, kRow + 1>...};
}

// For groups of `rows` rows.
template <class Q>
AGENTR_SIMD void UseByteShapes(int64_t rows) {
  constexpr int kBytes = Q::kHalves ? 16 : 32;
  TileShapes shapes;
  for (const int sums : {0, 1}) shapes.Set(sums, rows, kTileBytes);
  for (const int left : {2, 3}) shapes.Set(left, rows, kBytes);
  for (const int right : {4, 5}) shapes.Set(right, kBytes / 4, kTileBytes);
  UseShapes(shapes);
}

// The sums of whole numbers are those of BlockTile, and floats are added in its order, so that the
// results have the same bits.
template <class Q>
AGENTR_SIMD void MultiplyBlocksInTiles(const BlockProduct& p) {
  // With halves the compiler has no registers for the sums of all 16 rows.
  constexpr int kMaxRows = Q::kHalves ? 12 : kTileHeight;
  static constexpr auto kTiles = AmxTilesOf<TileBlockOf<Q>>(std::make_index_sequence<kMaxRows>());
  TileBlockOf<Q> unpacked[kTileBlocks];
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
          if (now != std::exchange(shaped, now)) UseByteShapes<Q>(now);
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
  ReleaseTiles();
}

// From how many rows on it is faster to unpack weights for the tiles.
template <class Q>
constexpr int kLeastTileRows = Q::kHalves ? 24 : 12;

inline void MultiplyBlocksWithTiles(WeightType type, const BlockProduct& p) {
  ForBlocksOf(type, [&]<class Q>() {
    p.rows < kLeastTileRows<Q> ? MultiplyBlocksAs<Q>(p) : MultiplyBlocksInTiles<Q>(p);
  });
}
