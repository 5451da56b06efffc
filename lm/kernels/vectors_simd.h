// Vectors of one level, as wide as its registers, and functions of them. The file of each level
// includes this and the other *_simd.h in a namespace of its own, so they have no include guards.
// It defines AGENTR_SIMD, the attribute of every function, and AGENTR_WIDTH, the floats of a
// register.

#define AGENTR_INLINE AGENTR_SIMD inline __attribute__((always_inline))

constexpr int kWidth = AGENTR_WIDTH;
static_assert(kLanes % kWidth == 0);

typedef float Vec __attribute__((vector_size(4 * AGENTR_WIDTH)));
typedef int32_t IntVec __attribute__((vector_size(4 * AGENTR_WIDTH)));
typedef uint32_t BitVec __attribute__((vector_size(4 * AGENTR_WIDTH)));
typedef uint16_t HalfVec __attribute__((vector_size(2 * AGENTR_WIDTH)));
typedef int8_t ByteVec __attribute__((vector_size(AGENTR_WIDTH)));
// The same in memory, of any alignment and type.
typedef float LooseVec __attribute__((vector_size(4 * AGENTR_WIDTH), aligned(1), may_alias));
typedef uint32_t LooseBits __attribute__((vector_size(4 * AGENTR_WIDTH), aligned(1), may_alias));
typedef uint16_t LooseHalf __attribute__((vector_size(2 * AGENTR_WIDTH), aligned(1), may_alias));
typedef int8_t LooseBytes __attribute__((vector_size(AGENTR_WIDTH), aligned(1), may_alias));

AGENTR_INLINE Vec LoadVec(const void* from) { return *static_cast<const LooseVec*>(from); }
AGENTR_INLINE void StoreVec(void* to, Vec value) { *static_cast<LooseVec*>(to) = value; }

// Loads the first `count` values, at most all; the others are 0.
AGENTR_INLINE Vec LoadVec(const float* from, int count) {
  if (count >= kWidth) return LoadVec(from);
  Vec value = {};
  std::memcpy(&value, from, count * sizeof(float));
  return value;
}

AGENTR_INLINE void StoreVec(float* to, Vec value, int count) {
  if (count >= kWidth) return StoreVec(to, value);
  std::memcpy(to, &value, count * sizeof(float));
}

struct Add {
  template <class T>
  AGENTR_INLINE static T Of(T a, T b) {
    return a + b;
  }
};
struct Greater {
  template <class T>
  AGENTR_INLINE static T Of(T a, T b) {
    return a > b ? a : b;
  }
};

// All values joined pairwise: the halves of the vector, the halves of the result, and so on.
template <class Join>
AGENTR_INLINE float Reduce(Vec v) {
  typedef float Vec4 __attribute__((vector_size(16)));
#if AGENTR_WIDTH == 16
  typedef float Vec8 __attribute__((vector_size(32)));
  const auto [a, b] = std::bit_cast<std::array<Vec8, 2>>(v);
  const auto [c, d] = std::bit_cast<std::array<Vec4, 2>>(Join::Of(a, b));
  const Vec4 e = Join::Of(c, d);
#elif AGENTR_WIDTH == 8
  const auto [c, d] = std::bit_cast<std::array<Vec4, 2>>(v);
  const Vec4 e = Join::Of(c, d);
#else
  const Vec4 e = v;
#endif
  return Join::Of(Join::Of(e[0], e[2]), Join::Of(e[1], e[3]));
}

AGENTR_INLINE float Sum(Vec v) { return Reduce<Add>(v); }
AGENTR_INLINE float Max(Vec v) { return Reduce<Greater>(v); }

AGENTR_INLINE Vec Convert(IntVec v) { return __builtin_convertvector(v, Vec); }

// GCC's own conversion takes the bytes apart one by one.
AGENTR_INLINE IntVec FromBytesWithSigns(const std::byte* from) {
#if AGENTR_WIDTH == 16
  return reinterpret_cast<IntVec>(
      _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif AGENTR_WIDTH == 8
  return reinterpret_cast<IntVec>(
      _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  return __builtin_convertvector(*reinterpret_cast<const LooseBytes*>(from), IntVec);
#endif
}

// Whether any value of v is greater than `bound`.
AGENTR_INLINE bool AnyGreater(Vec v, float bound) {
#if AGENTR_WIDTH == 16
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(v), _mm512_set1_ps(bound), _CMP_GT_OQ) != 0;
#elif AGENTR_WIDTH == 8
  return _mm256_movemask_ps(reinterpret_cast<__m256>(v > bound)) != 0;
#else
  return Max(v) > bound;
#endif
}

// e^x to 2 ulp for x <= 88; 0 below -87. x = n ln 2 + r with |r| <= ln 2 / 2, and a Taylor series
// for e^r.
AGENTR_INLINE Vec ExpBelow88(Vec x) {
  const Vec bounded = x < -87.0f ? Vec{} - 87.0f : x;
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

// The same for any x; e^88 above 88.
AGENTR_INLINE Vec Exp(Vec x) { return ExpBelow88(x > 88.0f ? Vec{} + 88.0f : x); }

// The bits of bfloat16 in the upper half of each value, to the nearest, ties to even.
AGENTR_INLINE BitVec RoundBf16(Vec x) {
  const BitVec bits = reinterpret_cast<BitVec>(x);
  const BitVec rounded = bits + 0x7FFF + (bits >> 16 & 1);
  return (x == x ? rounded : bits | 0x400000) & 0xFFFF0000u;
}

#if AGENTR_BF16
// The same as numbers of 16 bits; the instruction of x86 makes a number below 2^-126 zero.
AGENTR_INLINE HalfVec ToBf16(Vec x) {
#if AGENTR_WIDTH == 16
  return reinterpret_cast<HalfVec>(_mm512_cvtneps_pbh(reinterpret_cast<__m512>(x)));
#else
  return __builtin_convertvector(RoundBf16(x) >> 16, HalfVec);
#endif
}

AGENTR_INLINE void StoreHalf(uint16_t* to, HalfVec value, int count) {
  if (count >= kWidth) {
    *reinterpret_cast<LooseHalf*>(to) = value;
  } else {
    std::memcpy(to, &value, count * sizeof(uint16_t));
  }
}
#endif

AGENTR_INLINE Vec FromF16(const void* from) {
#if AGENTR_WIDTH == 16
  return reinterpret_cast<Vec>(
      _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(from))));
#elif AGENTR_WIDTH == 8
  return reinterpret_cast<Vec>(_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from))));
#elif defined(__aarch64__)
  return reinterpret_cast<Vec>(
      vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(static_cast<const uint16_t*>(from)))));
#else  // an infinity becomes 65536
  const BitVec bits = __builtin_convertvector(*static_cast<const LooseHalf*>(from), BitVec);
  const Vec magnitude = reinterpret_cast<Vec>((bits & 0x7FFF) << 13) * 0x1p112f;
  return reinterpret_cast<Vec>(reinterpret_cast<BitVec>(magnitude) | (bits & 0x8000) << 16);
#endif
}

#if AGENTR_BF16
// sum + the products of neighbours: pairs of bfloat16 in each place of a and b.
AGENTR_INLINE Vec AddPairs(Vec sum, BitVec a, BitVec b) {
#if defined(__aarch64__)
  return reinterpret_cast<Vec>(vbfdotq_f32(reinterpret_cast<float32x4_t>(sum),
                                           reinterpret_cast<bfloat16x8_t>(a),
                                           reinterpret_cast<bfloat16x8_t>(b)));
#else
  return reinterpret_cast<Vec>(_mm512_dpbf16_ps(
      reinterpret_cast<__m512>(sum), reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b)));
#endif
}
#endif
