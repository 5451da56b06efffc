// Products in tiles, the registers of AMX: up to 16 rows of 64 bytes, of which one instruction
// multiplies two and adds the result to a third. Tiles are named by their numbers; TileShapes gives
// their sizes.

// Rows and bytes of a row of each tile, as the processor reads them.
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
constexpr int kTileHeight = 16;  // the most rows of a tile
constexpr int kTileBytes = 64;   // the most of a row

// Not the compiler's own functions: GCC 12 does not know what memory they read, and leaves out what
// was written to it.
AGENTR_INLINE void UseShapes(const TileShapes& shapes) {
  asm volatile("ldtilecfg %0" ::"m"(shapes));
}
AGENTR_INLINE void ReleaseTiles() { asm volatile("tilerelease"); }

template <int kTile>
AGENTR_INLINE void ZeroTile() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
}

// `row`: the distance of rows in bytes.
template <int kTile>
AGENTR_INLINE void LoadTile(const void* from, int64_t row) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row), "i"(kTile) : "memory");
}
template <int kTile>
AGENTR_INLINE void StoreTile(void* to, int64_t row) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row), "i"(kTile) : "memory");
}

// sums += left * right, of bfloat16 and of bytes with signs.
template <int kSums, int kLeft, int kRight>
AGENTR_INLINE void AddBf16Tiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kLeft), "i"(kRight));
}
template <int kSums, int kLeft, int kRight>
AGENTR_INLINE void AddByteTiles() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kLeft), "i"(kRight));
}

// The shapes of the tiles of a product of bfloat16, which are kept for the next.
class Bf16Tiles {
 public:
  AGENTR_INLINE ~Bf16Tiles() { ReleaseTiles(); }

  // For groups of `rows` rows and steps of `step` values in depth.
  AGENTR_SIMD void Shape(int64_t rows, int64_t step) {
    if (rows == rows_ && step == step_) return;
    rows_ = rows;
    step_ = step;
    TileShapes shapes;
    for (const int sums : {0, 1, 2, 3}) shapes.Set(sums, rows, kTileBytes);
    for (const int left : {4, 5}) shapes.Set(left, rows, step * 2);
    for (const int right : {6, 7}) shapes.Set(right, step / 2, kTileBytes);
    UseShapes(shapes);
  }

 private:
  int64_t rows_ = 0, step_ = 0;
};

// --- bfloat16 ------------------------------------------------------------------------------------

constexpr int64_t kTileDepth = kTileBytes / 2;
// The depth that is computed for all rows before what follows it, so that its columns of B stay in
// the L2 cache. Sums go on where they were, so it changes no result.
constexpr int64_t kTilePass = 1024;

// A part of a product: rows of C by at most kPanelColumns columns.
struct TilePart {
  const uint16_t* a = nullptr;
  const std::byte* b = nullptr;
  float* c = nullptr;
  int64_t a_row = 0, b_row = 0, c_row = 0;  // distances of rows in bytes
  int64_t depth = 0;
  int vecs = 0;  // of 16 columns
  bool add = false;
};

// One group of rows by four vectors of columns. Tiles 0 … 3: sums; 4: A; 6, 7: B.
AGENTR_SIMD inline void AddToOneGroup(const TilePart& p) {
  ZeroTile<0>();
  ZeroTile<1>();
  ZeroTile<2>();
  ZeroTile<3>();
  if (p.add) {
    LoadTile<0>(p.c, p.c_row);
    if (p.vecs > 1) LoadTile<1>(p.c + 16, p.c_row);
    if (p.vecs > 2) LoadTile<2>(p.c + 32, p.c_row);
    if (p.vecs > 3) LoadTile<3>(p.c + 48, p.c_row);
  }
  const uint16_t* a = p.a;
  const std::byte* b = p.b;
  for (int64_t k = 0; k < p.depth; k += kTileDepth) {
    LoadTile<4>(a, p.a_row);
    LoadTile<6>(b, p.b_row);
    AddBf16Tiles<0, 4, 6>();
    if (p.vecs > 1) {
      LoadTile<7>(b + kTileBytes, p.b_row);
      AddBf16Tiles<1, 4, 7>();
    }
    if (p.vecs > 2) {
      LoadTile<6>(b + 2 * kTileBytes, p.b_row);
      AddBf16Tiles<2, 4, 6>();
    }
    if (p.vecs > 3) {
      LoadTile<7>(b + 3 * kTileBytes, p.b_row);
      AddBf16Tiles<3, 4, 7>();
    }
    a += kTileDepth;
    b += kTileDepth / 2 * p.b_row;
  }
  StoreTile<0>(p.c, p.c_row);
  if (p.vecs > 1) StoreTile<1>(p.c + 16, p.c_row);
  if (p.vecs > 2) StoreTile<2>(p.c + 32, p.c_row);
  if (p.vecs > 3) StoreTile<3>(p.c + 48, p.c_row);
}

// Two groups of `rows` rows by two vectors of columns, which needs the fewest tiles of A and B.
// Tiles 0, 1: sums of the first group; 2, 3: of the second; 4, 5: A; 6, 7: B.
AGENTR_SIMD inline void AddToTwoGroups(const TilePart& p, int64_t rows) {
  const bool two = p.vecs > 1;
  float* second = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(p.c) + rows * p.c_row);
  ZeroTile<0>();
  ZeroTile<1>();
  ZeroTile<2>();
  ZeroTile<3>();
  if (p.add) {
    LoadTile<0>(p.c, p.c_row);
    LoadTile<2>(second, p.c_row);
    if (two) LoadTile<1>(p.c + 16, p.c_row);
    if (two) LoadTile<3>(second + 16, p.c_row);
  }
  const uint16_t* a = p.a;
  const std::byte* b = p.b;
  for (int64_t k = 0; k < p.depth; k += kTileDepth) {
    LoadTile<4>(a, p.a_row);
    LoadTile<6>(b, p.b_row);
    AddBf16Tiles<0, 4, 6>();
    LoadTile<5>(reinterpret_cast<const std::byte*>(a) + rows * p.a_row, p.a_row);
    AddBf16Tiles<2, 5, 6>();
    if (two) {
      LoadTile<7>(b + kTileBytes, p.b_row);
      AddBf16Tiles<1, 4, 7>();
      AddBf16Tiles<3, 5, 7>();
    }
    a += kTileDepth;
    b += kTileDepth / 2 * p.b_row;
  }
  StoreTile<0>(p.c, p.c_row);
  StoreTile<2>(second, p.c_row);
  if (two) StoreTile<1>(p.c + 16, p.c_row);
  if (two) StoreTile<3>(second + 16, p.c_row);
}

// The part of the depth from `begin` on, which has whole tiles or is less than one, of the rows
// from `first` on: `groups` groups of `rows` rows.
AGENTR_SIMD inline void MultiplyBf16Groups(const MatrixProduct& p, Bf16Tiles& tiles, int64_t begin,
                                           int64_t depth, int64_t first, int64_t groups,
                                           int64_t rows) {
  if (depth == 0 || groups == 0) return;
  tiles.Shape(rows, std::min(depth, kTileDepth));
  const int64_t panel = (p.panel_stride > 0 ? p.panel_stride : kPanelColumns) * Bf16::kBytes;
  TilePart part;
  part.a_row = p.lda * 2;
  part.b_row = p.ldb * Bf16::kBytes;
  part.c_row = p.ldc * 4;
  for (int64_t k = begin; k < begin + depth; k += kTilePass) {
    part.depth = std::min(kTilePass, begin + depth - k);
    part.add = p.add || k > 0;
    for (int64_t column = 0; column < p.columns; column += kPanelColumns) {
      const auto* b =
          static_cast<const std::byte*>(p.b) + column / kPanelColumns * panel + k / 2 * part.b_row;
      const int vecs = static_cast<int>(std::min<int64_t>(kPanelColumns, p.columns - column)) / 16;
      for (int64_t group = 0; group < groups; group += 2) {
        const int64_t row = first + group * rows;
        part.a = static_cast<const uint16_t*>(p.a) + row * p.lda + k;
        part.b = b;
        part.c = p.c + row * p.ldc + column;
        part.vecs = vecs;
        if (group + 1 == groups) {
          AddToOneGroup(part);
          continue;
        }
        for (; part.vecs > 0; part.vecs -= 2) {
          AddToTwoGroups(part, rows);
          part.b += 2 * kTileBytes;
          part.c += 32;
        }
      }
    }
  }
}

// Also with one row, so that its result does not depend on how many there are: a tile adds the
// products of even and of odd neighbours on their own.
AGENTR_SIMD inline void MultiplyBf16(const MatrixProduct& p, Bf16Tiles& tiles) {
  const int64_t groups = (p.rows + kTileHeight - 1) / kTileHeight;
  const int64_t rows = p.rows / groups, larger = p.rows % groups;
  const int64_t whole = p.depth / kTileDepth * kTileDepth;
  const auto multiply = [&](int64_t begin, int64_t depth) {
    MultiplyBf16Groups(p, tiles, begin, depth, 0, larger, rows + 1);
    MultiplyBf16Groups(p, tiles, begin, depth, larger * (rows + 1), groups - larger, rows);
  };
  multiply(0, whole);
  multiply(whole, p.depth - whole);
}

// --- quantised weights ---------------------------------------------------------------------------

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

AGENTR_SIMD inline void MultiplyIn(Bf16Tiles& tiles, WeightType type, const MatrixProduct& p) {
  type == WeightType::kBF16 ? MultiplyBf16(p, tiles) : Multiply(type, p);
}

AGENTR_SIMD inline void MultiplyWithTiles(WeightType type, const MatrixProduct& p) {
  if (type != WeightType::kBF16) return Multiply(type, p);
  Bf16Tiles tiles;
  MultiplyBf16(p, tiles);
}

// From how many rows on it is faster to unpack weights for the tiles.
template <class Q>
constexpr int kLeastTileRows = Q::kHalves ? 24 : 12;

inline void MultiplyBlocksWithTiles(WeightType type, const BlockProduct& p) {
  ForBlocksOf(type, [&]<class Q>() {
    p.rows < kLeastTileRows<Q> ? MultiplyBlocksAs<Q>(p) : MultiplyBlocksInTiles<Q>(p);
  });
}
