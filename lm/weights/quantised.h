// The quantised types of GGUF files, as llama.cpp's ggml defines them: layouts, and conversions
// from and to float32. The float32 values equal those of the published dequantiser (package gguf)
// in every bit.
//
// With d and m in float16, weight i of a block is (ggml-quants.c, 2023):
//   Q8_0   d q[i]                            d, 32 bytes with signs
//   Q4_0   d (q[i] - 8)                      d, 16 bytes of two nibbles: weights i and i + 16
//   Q4_1   d q[i] + m                        d, m, the same nibbles
//   Q5_0   d (q[i] - 16), Q5_1 d q[i] + m    d (and m), 32 fifth bits, the same nibbles
//   Q4_K   d s[j] q[i] - m n[j], j = i / 32  d, m, 8 scales s and minima n of 6 bits, nibbles
//   Q5_K   the same with fifth bits          d, m, s and n, 32 bytes of fifth bits, nibbles
//   Q6_K   d s[j] (q[i] - 32), j = i / 16    nibbles, upper two bits, 16 scales of 8 bits, d
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lm/weights/weight_source.h"

namespace agentr {

// 32 neighbouring weights, taken out of their block.
struct QuantisedPart {
  std::array<uint8_t, 32> q;   // Q8_0: the bits of bytes with signs; else without the offset
  uint16_t d = 0, m = 0;       // float16 factors of the block, as stored
  std::array<uint8_t, 2> s{};  // K types: the scales of the halves (Q6_K: with signs)
  uint8_t n = 0;               // Q4_K and Q5_K: the minimum
};

// Part `index` of the weights that start at `blocks`.
QuantisedPart PartOf(WeightType type, const std::byte* blocks, int64_t index);

// Converts `count` values, whole blocks, to float32.
void Dequantise(WeightType type, const std::byte* blocks, int64_t count, float* to);

// Reads `count` values of `weight`, beginning at `offset`, as float32: whole blocks of its type.
void ReadWeight(const Weight& weight, int64_t offset, int64_t count, float* to);
// All of them.
std::vector<float> ReadWeight(const Weight& weight);

// The types that Quantise can make.
constexpr bool CanQuantise(WeightType type) {
  return type == WeightType::kQ8_0 || type == WeightType::kQ4_0;
}

// Rounds `count` values, whole blocks, as ggml's reference does: with Q8_0 the greatest magnitude
// becomes 127; with Q4_0 the value of the greatest magnitude becomes -8.
void Quantise(WeightType type, const float* from, int64_t count, std::byte* blocks);

// The bytes of `values`, whole blocks, in `type`: a number type, or one that Quantise can make.
std::vector<std::byte> StoredAs(WeightType type, const std::vector<float>& values);

}  // namespace agentr
