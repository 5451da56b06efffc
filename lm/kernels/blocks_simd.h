// Products with quantised weights, of the types in block_types_simd.h. Within 32 steps in depth
// the products of bytes are summed as whole numbers, without overflow; then they are scaled and
// added to float sums, which stay in registers for the whole depth.

// --- sums of products of bytes -------------------------------------------------------------------

// kBlockRows: rows of a tile, whose sums and a few groups of weights fit into the registers.
//
// AddHalf adds the products of a half block with the same half of kRows rows, which are lda blocks
// apart: sums[r] of a column += its 16 values times those of row r.
#if AGENTR_DOT

template <class Q>
constexpr int kBlockRows = AGENTR_WIDTH == 16 ? 6
                           : Q::kMost == 63   ? 3
                                              : 4;

AGENTR_INLINE IntVec AddDots(IntVec sum, BitVec weights, BitVec row) {
#if defined(__aarch64__)
  return reinterpret_cast<IntVec>(vdotq_s32(reinterpret_cast<int32x4_t>(sum),
                                            reinterpret_cast<int8x16_t>(weights),
                                            reinterpret_cast<int8x16_t>(row)));
#elif AGENTR_WIDTH == 16
  return reinterpret_cast<IntVec>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                      reinterpret_cast<__m512i>(weights),
                                                      reinterpret_cast<__m512i>(row)));
#else
  return reinterpret_cast<IntVec>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sum),
                                                          reinterpret_cast<__m256i>(weights),
                                                          reinterpret_cast<__m256i>(row)));
#endif
}

template <class Q, int kRows>
AGENTR_INLINE void AddHalf(const std::byte* block, int half, const LeftBlock* a, int64_t lda,
                           IntVec (&sums)[kRows]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const BitVec weights = Q::Group(block, i, half);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      sums[r] = AddDots(sums[r], weights, Broadcast(a[r * lda].q + half * 16 + i * 4));
    }
  }
}

#elif AGENTR_WIDTH >= 8

template <class Q>
constexpr int kBlockRows = AGENTR_WIDTH == 16                 ? 6
                           : Q::kMost == 31 || Q::kMost == 63 ? 3
                                                              : 4;

// Sums of two products each, as 16 bits: at most 2 * 127 * Q::kMost.
AGENTR_INLINE BitVec PairSums(BitVec weights, BitVec row) {
#if AGENTR_WIDTH == 16
  return reinterpret_cast<BitVec>(
      _mm512_maddubs_epi16(reinterpret_cast<__m512i>(weights), reinterpret_cast<__m512i>(row)));
#else
  return reinterpret_cast<BitVec>(
      _mm256_maddubs_epi16(reinterpret_cast<__m256i>(weights), reinterpret_cast<__m256i>(row)));
#endif
}

AGENTR_INLINE BitVec AddPairSums(BitVec a, BitVec b) {
#if AGENTR_WIDTH == 16
  return reinterpret_cast<BitVec>(
      _mm512_add_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
  return reinterpret_cast<BitVec>(
      _mm256_add_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#endif
}

AGENTR_INLINE IntVec WidePairSums(BitVec pairs) {
#if AGENTR_WIDTH == 16
  return reinterpret_cast<IntVec>(
      _mm512_madd_epi16(reinterpret_cast<__m512i>(pairs), _mm512_set1_epi16(1)));
#else
  return reinterpret_cast<IntVec>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(pairs), _mm256_set1_epi16(1)));
#endif
}

// The bytes of `row`, negated where those of `weights` are negative.
AGENTR_INLINE BitVec WithSigns(BitVec row, BitVec weights) {
#if AGENTR_WIDTH == 16
  const __m512i x = reinterpret_cast<__m512i>(row);
  return reinterpret_cast<BitVec>(_mm512_mask_sub_epi8(
      x, _mm512_movepi8_mask(reinterpret_cast<__m512i>(weights)), _mm512_setzero_si512(), x));
#else
  return reinterpret_cast<BitVec>(
      _mm256_sign_epi8(reinterpret_cast<__m256i>(row), reinterpret_cast<__m256i>(weights)));
#endif
}

AGENTR_INLINE BitVec Magnitudes(BitVec weights) {
#if AGENTR_WIDTH == 16
  return reinterpret_cast<BitVec>(_mm512_abs_epi8(reinterpret_cast<__m512i>(weights)));
#else
  return reinterpret_cast<BitVec>(_mm256_abs_epi8(reinterpret_cast<__m256i>(weights)));
#endif
}

template <class Q, int kRows>
AGENTR_INLINE void AddHalf(const std::byte* block, int half, const LeftBlock* a, int64_t lda,
                           IntVec (&sums)[kRows]) {
  // As many groups as 16 bits hold.
  constexpr int kRoom = 32767 / (2 * 127 * Q::kMost), kGroups = kRoom >= 4 ? 4 : kRoom >= 2 ? 2 : 1;
#pragma GCC unroll 4
  for (int i = 0; i < 4; i += kGroups) {
    BitVec weights[kGroups], magnitudes[kGroups];
#pragma GCC unroll 4
    for (int j = 0; j < kGroups; ++j) {
      weights[j] = Q::Group(block, i + j, half);
      magnitudes[j] = Q::kSigned ? Magnitudes(weights[j]) : weights[j];
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      BitVec pairs = {};
#pragma GCC unroll 4
      for (int j = 0; j < kGroups; ++j) {
        const BitVec row = Broadcast(a[r * lda].q + half * 16 + (i + j) * 4);
        const BitVec more = PairSums(magnitudes[j], Q::kSigned ? WithSigns(row, weights[j]) : row);
        pairs = j == 0 ? more : AddPairSums(pairs, more);
      }
      sums[r] += WidePairSums(pairs);
    }
  }
}

#elif defined(__SSE2__)

template <class Q>
constexpr int kBlockRows = Q::kMost == 31 || Q::kMost == 63 ? 1 : 2;

// Bytes widened to 16 bits: the lower or upper eight.
template <bool kSigned>
AGENTR_INLINE __m128i Wide(BitVec bytes, bool upper) {
  const __m128i x = reinterpret_cast<__m128i>(bytes);
  const __m128i other = kSigned ? x : _mm_setzero_si128();
  const __m128i wide = upper ? _mm_unpackhi_epi8(other, x) : _mm_unpacklo_epi8(other, x);
  return kSigned ? _mm_srai_epi16(wide, 8) : _mm_srli_epi16(wide, 8);
}

template <class Q, int kRows>
AGENTR_INLINE void AddHalf(const std::byte* block, int half, const LeftBlock* a, int64_t lda,
                           IntVec (&sums)[kRows]) {
  __m128i lower[kRows] = {}, upper[kRows] = {};  // sums of pairs: of two columns each
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const BitVec weights = Q::Group(block, i, half);
    const __m128i low = Wide<Q::kSigned>(weights, false), high = Wide<Q::kSigned>(weights, true);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const __m128i row = Wide<true>(Broadcast(a[r * lda].q + half * 16 + i * 4), false);
      lower[r] = _mm_add_epi32(lower[r], _mm_madd_epi16(low, row));
      upper[r] = _mm_add_epi32(upper[r], _mm_madd_epi16(high, row));
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const __m128 x = _mm_castsi128_ps(lower[r]), y = _mm_castsi128_ps(upper[r]);
    sums[r] += reinterpret_cast<IntVec>(_mm_shuffle_ps(x, y, 0x88)) +
               reinterpret_cast<IntVec>(_mm_shuffle_ps(x, y, 0xDD));
  }
}

#else

template <class Q>
constexpr int kBlockRows = 4;

template <class Q, int kRows>
AGENTR_INLINE void AddHalf(const std::byte* block, int half, const LeftBlock* a, int64_t lda,
                           IntVec (&sums)[kRows]) {
  for (int i = 0; i < 4; ++i) {
    int8_t weights[4 * kWidth];  // at most 127, whether signed or not
    const BitVec group = Q::Group(block, i, half);
    std::memcpy(weights, &group, sizeof weights);
    for (int r = 0; r < kRows; ++r) {
      const int8_t* row = a[r * lda].q + half * 16 + i * 4;
      for (int c = 0; c < kWidth; ++c) {
        for (int j = 0; j < 4; ++j) sums[r][c] += weights[c * 4 + j] * row[j];
      }
    }
  }
}

#endif

// --- tiles ---------------------------------------------------------------------------------------

// With few rows a product waits for its weights. The processor fetches ahead by itself, but begins
// anew with each short matrix of a small model. The panels follow each other, so
// behind the end of one lies the next.
constexpr int64_t kAhead = 2048;  // bytes

template <class Q, int kRows>
AGENTR_SIMD void BlockTile(const BlockProduct& p, const std::byte* b, int64_t row, float* c) {
  const LeftBlock* a = p.a + row * p.lda;
  Vec sums[kRows] = {};
  for (int64_t super = 0; super < p.blocks; super += Q::kSuper) {
    const std::byte* head = b;
    b += Q::kHeadBytes;
    for (int i = 0; i < Q::kSuper; ++i, ++a, b += Q::kBlockBytes) {
#pragma GCC unroll 16
      for (int at = 0; at < Q::kBlockBytes + 63; at += 64) __builtin_prefetch(b + kAhead + at);
      IntVec dots[kRows];
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        if (half == 0 || Q::kHalves) {
#pragma GCC unroll 8
          for (int r = 0; r < kRows; ++r) {
            const LeftBlock& left = a[r * p.lda];
            const int32_t sum = left.half_sums[half] + (Q::kHalves ? 0 : left.half_sums[1]);
            dots[r] = IntVec{} - Q::kOffset * sum;
          }
        }
        AddHalf<Q, kRows>(b, half, a, p.lda, dots);
        if (half == 1 || Q::kHalves) {
          const Vec scale = Q::Scale(head, b, half);
#pragma GCC unroll 8
          for (int r = 0; r < kRows; ++r) {
            sums[r] += Convert(dots[r]) * (scale * a[r * p.lda].scale);
          }
        }
      }
      if constexpr (Q::kHasMin) {
        const Vec min = Q::Min(head, b);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) sums[r] += min * a[r * p.lda].scaled_sum;
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    float* to = c + (row + r) * p.ldc;
    StoreVec(to, p.add ? LoadVec(to) + sums[r] : sums[r]);
  }
}

using BlockTileFunction = void (*)(const BlockProduct&, const std::byte*, int64_t, float*);

template <class Q, size_t... kRow>
constexpr std::array<BlockTileFunction, sizeof...(kRow)> BlockTilesOf(
    std::index_sequence<kRow...>) {
  return {&BlockTile<Q, kRow + 1>...};
}

template <class Q>
AGENTR_SIMD void MultiplyBlocksAs(const BlockProduct& p) {
  constexpr int kMaxRows = kBlockRows<Q>;
  static constexpr auto kTiles = BlockTilesOf<Q>(std::make_index_sequence<kMaxRows>());
  for (int column = 0; column < p.columns; column += kWidth) {
    const std::byte* panel = p.b + column / kWidth * p.panel_bytes;
    int64_t groups = (p.rows + kMaxRows - 1) / kMaxRows;
    for (int64_t row = 0; row < p.rows; --groups) {
      const int64_t rows = (p.rows - row + groups - 1) / groups;
      kTiles[rows - 1](p, panel, row, p.c + column);
      row += rows;
    }
  }
}

// Calls `multiply` for the quantised type; the other types are not in blocks.
template <class Multiply>
void ForBlocksOf(WeightType type, const Multiply& multiply) {
  switch (type) {
    case WeightType::kQ8_0:
      return multiply.template operator()<Q8_0>();
    case WeightType::kQ4_0:
      return multiply.template operator()<Q4_0>();
    case WeightType::kQ4_1:
      return multiply.template operator()<Q4_1>();
    case WeightType::kQ5_0:
      return multiply.template operator()<Q5_0>();
    case WeightType::kQ5_1:
      return multiply.template operator()<Q5_1>();
    case WeightType::kQ4_K:
      return multiply.template operator()<Q4_K>();
    case WeightType::kQ5_K:
      return multiply.template operator()<Q5_K>();
    case WeightType::kQ6_K:
      return multiply.template operator()<Q6_K>();
    default:
      return;
  }
}

inline void MultiplyBlocks(WeightType type, const BlockProduct& p) {
  ForBlocksOf(type, [&]<class Q>() { MultiplyBlocksAs<Q>(p); });
}
