// Tiles (AMX): registers of up to 16 rows of 64 bytes. One instruction multiplies two of them and
// adds the result to a third. A tile is named by its number; TileShapes says how large it is.
// This file also has the products of bfloat16 in tiles.

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

// Sums that begin from 0 or go on from what is in memory.
template <int kTile>
AGENTR_INLINE void BeginSums(bool add, const float* c, int64_t row) {
  if (add) {
    LoadTile<kTile>(c, row);
  } else {
    ZeroTile<kTile>();
  }
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
  BeginSums<0>(p.add, p.c, p.c_row);
  if (p.vecs > 1) BeginSums<1>(p.add, p.c + 16, p.c_row);
  if (p.vecs > 2) BeginSums<2>(p.add, p.c + 32, p.c_row);
  if (p.vecs > 3) BeginSums<3>(p.add, p.c + 48, p.c_row);
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
  BeginSums<0>(p.add, p.c, p.c_row);
  BeginSums<2>(p.add, second, p.c_row);
  if (two) BeginSums<1>(p.add, p.c + 16, p.c_row);
  if (two) BeginSums<3>(p.add, second + 16, p.c_row);
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

AGENTR_SIMD inline void MultiplyIn(Bf16Tiles& tiles, WeightType type, const MatrixProduct& p) {
  type == WeightType::kBF16 ? MultiplyBf16(p, tiles) : Multiply(type, p);
}

AGENTR_SIMD inline void MultiplyWithTiles(WeightType type, const MatrixProduct& p) {
  if (type != WeightType::kBF16) return Multiply(type, p);
  Bf16Tiles tiles;
  MultiplyBf16(p, tiles);
}
