// The quantised types of weights, as products read them from the panels of block_panels.h.

AGENTR_INLINE BitVec LoadBits(const void* from) { return *static_cast<const LooseBits*>(from); }

// The next four bytes of a row in every place of a vector.
AGENTR_INLINE BitVec Broadcast(const int8_t* from) {
  uint32_t four;
  std::memcpy(&four, from, sizeof four);
  return BitVec{} + four;
}

// Group i (of 4) of a half: four values of each column, as bytes.
AGENTR_INLINE BitVec Nibbles(const std::byte* from, int i, int half) {
  const BitVec bytes = LoadBits(from + i * 4 * kWidth);
  return (half == 0 ? bytes : bytes >> 4) & 0x0F0F0F0Fu;
}

// What is particular to each type. kSuper: blocks of 32 that share a head of kHeadBytes;
// kBlockBytes: of a block in the panel; kMost: the greatest value that Group returns; kOffset: what
// is subtracted from it; kHalves: each half of a block has a scale of its own.
struct Q8_0 {
  static constexpr int kSuper = 1, kHeadBytes = 2 * kWidth, kBlockBytes = 32 * kWidth;
  static constexpr bool kHalves = false, kHasMin = false;
#if AGENTR_DOT && defined(__x86_64__)  // whose first factor has no sign
  static constexpr int kMost = 255, kOffset = 128;
  static constexpr bool kSigned = false;
#else
  static constexpr int kMost = 128, kOffset = 0;
  static constexpr bool kSigned = true;
#endif
  AGENTR_INLINE static BitVec Group(const std::byte* block, int i, int half) {
    const BitVec bytes = LoadBits(block + (half * 4 + i) * 4 * kWidth);
    return kSigned ? bytes : bytes ^ 0x80808080u;
  }
  AGENTR_INLINE static Vec Scale(const std::byte* head, const std::byte*, int) {
    return FromF16(head);
  }
};

struct Q4_0 {
  static constexpr int kSuper = 1, kHeadBytes = 2 * kWidth, kBlockBytes = 16 * kWidth;
  static constexpr int kMost = 15, kOffset = 8;
  static constexpr bool kHalves = false, kHasMin = false, kSigned = false;
  AGENTR_INLINE static BitVec Group(const std::byte* block, int i, int half) {
    return Nibbles(block, i, half);
  }
  AGENTR_INLINE static Vec Scale(const std::byte* head, const std::byte*, int) {
    return FromF16(head);
  }
};

struct Q4_1 : Q4_0 {
  static constexpr int kHeadBytes = 4 * kWidth, kOffset = 0;
  static constexpr bool kHasMin = true;
  AGENTR_INLINE static Vec Min(const std::byte* head, const std::byte*) {
    return FromF16(head + 2 * kWidth);
  }
};

// Nibbles behind a vector of fifth bits: bit g of a byte belongs to group g of 8.
AGENTR_INLINE BitVec FiveBits(const std::byte* from, int i, int half) {
  const BitVec bits = LoadBits(from);
  const BitVec fifth = half == 0 ? bits << (4 - i) : bits >> i;
  return Nibbles(from + 4 * kWidth, i, half) | (fifth & 0x10101010u);
}

struct Q5_0 : Q4_0 {
  static constexpr int kBlockBytes = 20 * kWidth, kMost = 31, kOffset = 16;
  AGENTR_INLINE static BitVec Group(const std::byte* block, int i, int half) {
    return FiveBits(block, i, half);
  }
};

struct Q5_1 : Q4_1 {
  static constexpr int kBlockBytes = 20 * kWidth, kMost = 31;
  AGENTR_INLINE static BitVec Group(const std::byte* block, int i, int half) {
    return FiveBits(block, i, half);
  }
};

AGENTR_INLINE Vec FromBytes(const std::byte* from) { return Int8::Load(from); }

// The head has the factors of all scales and minima; each block begins with its own, as bytes.
struct Q4_K {
  static constexpr int kSuper = 8, kHeadBytes = 4 * kWidth, kBlockBytes = 18 * kWidth;
  static constexpr int kMost = 15, kOffset = 0;
  static constexpr bool kHalves = false, kHasMin = true, kSigned = false;
  AGENTR_INLINE static BitVec Group(const std::byte* block, int i, int half) {
    return Nibbles(block + 2 * kWidth, i, half);
  }
  AGENTR_INLINE static Vec Scale(const std::byte* head, const std::byte* block, int) {
    return FromF16(head) * FromBytes(block);
  }
  AGENTR_INLINE static Vec Min(const std::byte* head, const std::byte* block) {
    return -(FromF16(head + 2 * kWidth) * FromBytes(block + kWidth));
  }
};

struct Q5_K : Q4_K {
  static constexpr int kBlockBytes = 22 * kWidth, kMost = 31;
  AGENTR_INLINE static BitVec Group(const std::byte* block, int i, int half) {
    return FiveBits(block + 2 * kWidth, i, half);
  }
};

// Each block: two scales with signs, two vectors of the upper two bits (four groups each), nibbles.
struct Q6_K {
  static constexpr int kSuper = 8, kHeadBytes = 2 * kWidth, kBlockBytes = 26 * kWidth;
  static constexpr int kMost = 63, kOffset = 32;
  static constexpr bool kHalves = true, kHasMin = false, kSigned = false;
  AGENTR_INLINE static BitVec Group(const std::byte* block, int i, int half) {
    const BitVec bits = LoadBits(block + (2 + half * 4) * kWidth);
    const BitVec upper = i < 2 ? bits << (4 - 2 * i) : bits >> (2 * i - 4);
    return Nibbles(block + 10 * kWidth, i, half) | (upper & 0x30303030u);
  }
  AGENTR_INLINE static Vec Scale(const std::byte* head, const std::byte* block, int half) {
    return FromF16(head) * FromBytes(block + half * kWidth);
  }
};
