// Converts bfloat16 and float16 bits to and from float, with equal results on every machine.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace agentr {

inline float FromBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// To the nearest, ties to even.
inline uint16_t ToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);  // stays a NaN
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

inline float FromF16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t magnitude = uint32_t{bits & 0x7FFFu} << 13;
  if (magnitude >= 0x0F800000) {  // infinity or NaN
    return std::bit_cast<float>(sign | 0x7F800000 | magnitude);
  }
  // The float of the same bits has an exponent that is 112 too small, subnormals included.
  return std::bit_cast<float>(sign |
                              std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f));
}

// To the nearest, ties to even; larger values become ±65504, the greatest finite number.
inline uint16_t ToF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float magnitude = std::fabs(value);
  if (value != value) return sign | 0x7E00;
  if (magnitude >= 65504.0f) return sign | 0x7BFF;
  if (magnitude < 0x1p-14f) {  // subnormal: a multiple of 2^-24; the sum rounds it
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(magnitude + 0.5f) - 0x3F000000);
  }
  const uint32_t rebased = std::bit_cast<uint32_t>(magnitude) - 0x38000000;
  return sign | static_cast<uint16_t>((rebased + 0xFFF + (rebased >> 13 & 1)) >> 13);
}

}  // namespace agentr
