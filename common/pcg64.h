// The draws of numpy's Generator(PCG64(seed)), bit for bit, for worlds whose layout must be equal
// to that of an original written with numpy. Everything else draws from RandomStream.
//
// The generator is PCG XSL-RR 128/64 (O'Neill 2014); a seed becomes its state through numpy's
// SeedSequence (numpy/random/bit_generator.pyx).
#pragma once

#include <array>
#include <cstdint>

namespace agentr {

class Pcg64 {
 public:
  explicit Pcg64(uint64_t seed);

  uint64_t Next64();

  // The low half of a 64-bit draw; the next call returns the high half. Other draws leave a kept
  // half alone.
  uint32_t Next32();

  // Generator.integers(low, high) for a range of 1 to 2^32 - 1 values: low … high - 1, without
  // bias. A range of one value draws nothing.
  int64_t Integers(int64_t low, int64_t high);

  // Generator.random(): uniform in [0, 1), 53 bits.
  double Uniform() { return static_cast<double>(Next64() >> 11) * 0x1.0p-53; }

  bool operator==(const Pcg64&) const = default;

 private:
  __extension__ using Word = unsigned __int128;

  void Advance();

  Word state_ = 0;
  Word increment_ = 0;
  uint32_t kept_ = 0;
  bool has_kept_ = false;
};

// The first eight words that numpy's SeedSequence(seed) generates.
std::array<uint32_t, 8> SeedWords(uint64_t seed);

}  // namespace agentr
