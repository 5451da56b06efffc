// Splittable seeded random streams.
//
// A stream is a key; Split(x) gives the independent stream of a named part of the work, so
// RandomStream(seed).Split(task).Split(node) does not depend on what else was drawn before or at
// the same time. The draws are splitmix64 (Steele, Lea, Flood 2014) over key + counter. All helpers
// give the same bits with every standard library, unlike std::*_distribution, so the same seed
// gives the same files everywhere.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace agentr {

class RandomStream {
 public:
  explicit RandomStream(uint64_t seed) : key_(Mix(seed)) {}

  // The stream for the part `key` of the work; independent of draws already taken.
  RandomStream Split(uint64_t key) const { return RandomStream(key_ ^ Mix(key + kGamma)); }
  RandomStream Split(std::string_view name) const;

  uint64_t Next() { return Mix(key_ + ++counter_ * kGamma); }

  // Uniform in [0, 1), 53 bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

  // Uniform in 0 … n-1 (n > 0), unbiased.
  uint64_t Below(uint64_t n);

  bool Chance(double probability) { return Uniform() < probability; }

  // Fisher-Yates, from the end.
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

  // k of the items (all of them if fewer), in random order.
  template <typename T>
  std::vector<T> Sample(std::vector<T> items, size_t k) {
    if (k > items.size()) k = items.size();
    for (size_t i = 0; i < k; ++i) std::swap(items[i], items[i + Below(items.size() - i)]);
    items.resize(k);
    return items;
  }

  template <std::ranges::borrowed_range Items>
  const std::ranges::range_value_t<Items>& Pick(Items&& items) {
    return items[Below(std::ranges::size(items))];
  }

 private:
  static constexpr uint64_t kGamma = 0x9E3779B97F4A7C15ULL;
  static constexpr uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  uint64_t key_;
  uint64_t counter_ = 0;
};

}  // namespace agentr
