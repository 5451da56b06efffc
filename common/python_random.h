// Python 3's `random` for an integer seed: each call gives the same draw as `random.Random(seed)`.
// It is only used for choices that must equal those of a Python server; all others use
// common/random.h.
//
// Not thread-safe: one owner at a time.
//
// Source: Mersenne Twister MT19937 (Matsumoto & Nishimura 1998), seeded "by array" (their 2002
// version).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace agentr {

class PythonRandom {
 public:
  explicit PythonRandom(uint64_t seed);

  // random(): uniform in [0, 1), a multiple of 2^-53.
  double Random();

  // getrandbits(bits), bits <= 64; for 0 bits it draws nothing and returns 0.
  uint64_t GetRandBits(int bits);

  // randrange(n), n > 0: uniform in [0, n).
  uint64_t Below(uint64_t n);

  // sample(range(n), k), k <= n: k distinct numbers below n, in the order drawn.
  std::vector<size_t> Sample(size_t n, size_t k);

  // shuffle(items).
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[Below(i)]);
    }
  }

 private:
  static constexpr size_t kSize = 624;

  void Refill();
  uint32_t Next();

  std::array<uint32_t, kSize> state_{};
  size_t used_ = kSize;  // words of state_ that were used
};

}  // namespace agentr
