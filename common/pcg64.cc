#include "common/pcg64.h"

#include <bit>
#include <cstddef>

namespace agentr {
namespace {

constexpr size_t kPoolSize = 4;

// Mixes words into the pool of a SeedSequence; the multiplier changes with every word.
class SeedHash {
 public:
  uint32_t operator()(uint32_t value) {
    value ^= multiplier_;
    multiplier_ *= 0x931e8875U;
    value *= multiplier_;
    return value ^ (value >> 16);
  }

 private:
  uint32_t multiplier_ = 0x43b0d7e5U;
};

uint32_t MixWords(uint32_t x, uint32_t y) {
  const uint32_t mixed = 0xca01f9ddU * x - 0x4973f715U * y;
  return mixed ^ (mixed >> 16);
}

}  // namespace

std::array<uint32_t, 8> SeedWords(uint64_t seed) {
  std::array<uint32_t, kPoolSize> pool = {};
  SeedHash hash;
  // A word that the seed does not have counts as 0, so the number of words does not matter.
  for (size_t i = 0; i < kPoolSize; ++i) {
    pool[i] = hash(i < 2 ? static_cast<uint32_t>(seed >> (32 * i)) : 0);
  }
  for (size_t from = 0; from < kPoolSize; ++from) {
    for (size_t to = 0; to < kPoolSize; ++to) {
      if (from != to) pool[to] = MixWords(pool[to], hash(pool[from]));
    }
  }
  std::array<uint32_t, 8> words = {};
  uint32_t multiplier = 0x8b51f9ddU;
  for (size_t i = 0; i < words.size(); ++i) {
    uint32_t value = pool[i % kPoolSize] ^ multiplier;
    multiplier *= 0x58f38dedU;
    value *= multiplier;
    words[i] = value ^ (value >> 16);
  }
  return words;
}

Pcg64::Pcg64(uint64_t seed) {
  const std::array<uint32_t, 8> words = SeedWords(seed);
  const auto value = [&](size_t i) { return words[2 * i] | uint64_t{words[2 * i + 1]} << 32; };
  const Word start = Word{value(0)} << 64 | value(1);
  const Word sequence = Word{value(2)} << 64 | value(3);
  increment_ = sequence << 1 | 1;
  Advance();
  state_ += start;
  Advance();
}

void Pcg64::Advance() {
  constexpr Word kMultiplier = Word{2549297995355413924ULL} << 64 | 4865540595714422341ULL;
  state_ = state_ * kMultiplier + increment_;
}

uint64_t Pcg64::Next64() {
  Advance();
  const auto high = static_cast<uint64_t>(state_ >> 64);
  return std::rotr(high ^ static_cast<uint64_t>(state_), static_cast<int>(high >> 58));
}

uint32_t Pcg64::Next32() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  const uint64_t both = Next64();
  has_kept_ = true;
  kept_ = static_cast<uint32_t>(both >> 32);
  return static_cast<uint32_t>(both);
}

int64_t Pcg64::Integers(int64_t low, int64_t high) {
  const auto count = static_cast<uint32_t>(high - low);
  if (count == 1) return low;
  // Lemire (2019), "Fast random integer generation in an interval": the low half of the product
  // tells whether the draw belongs to an incomplete last block.
  uint64_t product = uint64_t{Next32()} * count;
  if (static_cast<uint32_t>(product) < count) {
    const uint32_t limit = -count % count;
    while (static_cast<uint32_t>(product) < limit) product = uint64_t{Next32()} * count;
  }
  return low + static_cast<int64_t>(product >> 32);
}

}  // namespace agentr
