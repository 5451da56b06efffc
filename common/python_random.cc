#include "common/python_random.h"

#include <bit>
#include <cassert>
#include <numeric>

namespace agentr {
namespace {

// Mixes a word of the state with the one before it; both seeding loops do this at each step.
uint32_t Mix(uint32_t before) { return before ^ (before >> 30); }

// Up to this n a sample is taken from a list of all n numbers; above it, numbers that were drawn
// before are drawn again. Python estimates which takes less memory: a small set needs 21 words, and
// a larger one a table for three times its members, rounded up to a power of four.
size_t LargestPool(size_t k) {
  size_t words = 21;
  if (k > 5) {
    size_t table = 1;
    while (table < 3 * k) table *= 4;
    words += table;
  }
  return words;
}

}  // namespace

PythonRandom::PythonRandom(uint64_t seed) {
  state_[0] = 19650218;
  for (uint32_t i = 1; i < kSize; ++i) state_[i] = 1812433253U * Mix(state_[i - 1]) + i;

  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed),
                                       static_cast<uint32_t>(seed >> 32)};
  const size_t key_size = key[1] == 0 ? 1 : 2;  // without leading zero words, but at least one
  size_t i = 1;
  const auto step = [&] {
    if (++i == kSize) {
      state_[0] = state_[kSize - 1];
      i = 1;
    }
  };
  for (uint32_t n = 0; n < kSize; ++n) {
    const auto j = static_cast<uint32_t>(n % key_size);
    state_[i] = (state_[i] ^ (Mix(state_[i - 1]) * 1664525U)) + key[j] + j;
    step();
  }
  for (size_t n = 1; n < kSize; ++n) {
    state_[i] = (state_[i] ^ (Mix(state_[i - 1]) * 1566083941U)) - static_cast<uint32_t>(i);
    step();
  }
  state_[0] = 0x80000000U;
}

void PythonRandom::Refill() {
  constexpr size_t kShift = 397;
  for (size_t i = 0; i < kSize; ++i) {
    const uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kSize] & 0x7fffffffU);
    state_[i] = state_[(i + kShift) % kSize] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfU : 0);
  }
  used_ = 0;
}

uint32_t PythonRandom::Next() {
  if (used_ == kSize) Refill();
  uint32_t y = state_[used_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680U;
  y ^= (y << 15) & 0xefc60000U;
  return y ^ (y >> 18);
}

double PythonRandom::Random() {
  const uint64_t high = Next() >> 5;  // 27 bits
  const uint64_t low = Next() >> 6;   // 26 bits
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

uint64_t PythonRandom::GetRandBits(int bits) {
  assert(bits >= 0 && bits <= 64);
  if (bits == 0) return 0;
  if (bits <= 32) return Next() >> (32 - bits);
  const uint64_t low = Next();
  return low | (static_cast<uint64_t>(Next() >> (64 - bits)) << 32);
}

uint64_t PythonRandom::Below(uint64_t n) {
  assert(n > 0);
  const auto bits = static_cast<int>(std::bit_width(n));
  uint64_t draw = GetRandBits(bits);
  while (draw >= n) draw = GetRandBits(bits);
  return draw;
}

std::vector<size_t> PythonRandom::Sample(size_t n, size_t k) {
  assert(k <= n);
  std::vector<size_t> sample(k);
  if (n <= LargestPool(k)) {
    std::vector<size_t> pool(n);
    std::iota(pool.begin(), pool.end(), size_t{0});
    for (size_t i = 0; i < k; ++i) {
      const size_t j = Below(n - i);
      sample[i] = pool[j];
      pool[j] = pool[n - i - 1];  // keeps undrawn numbers at the front
    }
    return sample;
  }
  std::vector<bool> drawn(n);
  for (size_t& number : sample) {
    do {
      number = Below(n);
    } while (drawn[number]);
    drawn[number] = true;
  }
  return sample;
}

}  // namespace agentr
