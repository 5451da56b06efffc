#include "lm/weights/quantised.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "lm/weights/half.h"

namespace agentr {
namespace {

uint16_t HalfAt(const uint8_t* from) {
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

// The nibbles of the simple types: weight i is in the lower half of byte i, weight i + 16 in the
// upper.
void ReadNibbles(const uint8_t* from, QuantisedPart& part) {
  for (int i = 0; i < 16; ++i) {
    part.q[i] = from[i] & 15;
    part.q[i + 16] = from[i] >> 4;
  }
}

void AddFifthBits(const uint8_t* from, QuantisedPart& part) {
  for (int i = 0; i < 32; ++i) part.q[i] |= (from[i / 8] >> (i % 8) & 1) << 4;
}

// Scale and minimum j of 8, of 6 bits each: the upper four pairs keep two of their bits behind
// those of the lower four.
void ReadScale(const uint8_t* s, int j, QuantisedPart& part) {
  const int low = j % 4;
  uint8_t scale = s[low] & 63, min = s[low + 4] & 63;
  if (j >= 4) {
    scale = static_cast<uint8_t>((s[j + 4] & 15) | s[low] >> 6 << 4);
    min = static_cast<uint8_t>(s[j + 4] >> 4 | s[low + 4] >> 6 << 4);
  }
  part.s = {scale, scale};
  part.n = min;
}

// Q4_K and Q5_K, where `nibbles` are behind `fifth`, if there is one.
void ReadK(const uint8_t* block, const uint8_t* fifth, const uint8_t* nibbles, int j,
           QuantisedPart& part) {
  part.d = HalfAt(block);
  part.m = HalfAt(block + 2);
  ReadScale(block + 4, j, part);
  for (int i = 0; i < 32; ++i) {
    part.q[i] = nibbles[j / 2 * 32 + i] >> (j % 2 * 4) & 15;
    if (fifth != nullptr) part.q[i] |= (fifth[i] >> j & 1) << 4;
  }
}

void ReadQ6(const uint8_t* block, int j, QuantisedPart& part) {
  const uint8_t *low = block + j / 4 * 64 + j % 2 * 32, *high = block + 128 + j / 4 * 32;
  for (int i = 0; i < 32; ++i) {
    part.q[i] =
        static_cast<uint8_t>((low[i] >> (j % 4 / 2 * 4) & 15) | (high[i] >> (j % 4 * 2) & 3) << 4);
  }
  part.s = {block[192 + j * 2], block[192 + j * 2 + 1]};
  part.d = HalfAt(block + 208);
}

void Widen(WeightType type, const QuantisedPart& part, float* to) {
  const float d = FromF16(part.d), m = FromF16(part.m);
  for (int i = 0; i < 32; ++i) {
    const auto q = static_cast<float>(part.q[i]);
    switch (type) {
      case WeightType::kQ8_0:
        to[i] = d * static_cast<float>(static_cast<int8_t>(part.q[i]));
        break;
      case WeightType::kQ4_0:
        to[i] = d * (q - 8);
        break;
      case WeightType::kQ5_0:
        to[i] = d * (q - 16);
        break;
      case WeightType::kQ4_1:
      case WeightType::kQ5_1:
        to[i] = d * q + m;
        break;
      case WeightType::kQ6_K:
        to[i] = d * static_cast<float>(static_cast<int8_t>(part.s[i / 16])) * (q - 32);
        break;
      default:  // Q4_K, Q5_K
        to[i] = d * static_cast<float>(part.s[0]) * q - m * static_cast<float>(part.n);
    }
  }
}

}  // namespace

QuantisedPart PartOf(WeightType type, const std::byte* blocks, int64_t index) {
  const int64_t parts = BlockOf(type).values / 32;
  const auto* block =
      reinterpret_cast<const uint8_t*>(blocks) + index / parts * BlockOf(type).bytes;
  const auto j = static_cast<int>(index % parts);
  QuantisedPart part;
  switch (type) {
    case WeightType::kQ4_K:
      ReadK(block, nullptr, block + 16, j, part);
      return part;
    case WeightType::kQ5_K:
      ReadK(block, block + 16, block + 48, j, part);
      return part;
    case WeightType::kQ6_K:
      ReadQ6(block, j, part);
      return part;
    default:
      break;
  }
  part.d = HalfAt(block);
  block += 2;
  if (type == WeightType::kQ8_0) {
    std::copy_n(block, 32, part.q.begin());
    return part;
  }
  if (type == WeightType::kQ4_1 || type == WeightType::kQ5_1) {
    part.m = HalfAt(block);
    block += 2;
  }
  const bool five = type == WeightType::kQ5_0 || type == WeightType::kQ5_1;
  ReadNibbles(five ? block + 4 : block, part);
  if (five) AddFifthBits(block, part);
  return part;
}

void Dequantise(WeightType type, const std::byte* blocks, int64_t count, float* to) {
  for (int64_t i = 0; i < count / 32; ++i) Widen(type, PartOf(type, blocks, i), to + i * 32);
}

void Quantise(WeightType type, const float* from, int64_t count, std::byte* blocks) {
  assert(CanQuantise(type));
  auto* to = reinterpret_cast<uint8_t*>(blocks);
  for (int64_t b = 0; b < count / 32; ++b, from += 32, to += BlockOf(type).bytes) {
    const float most = *std::max_element(
        from, from + 32, [](float x, float y) { return std::fabs(x) < std::fabs(y); });
    const float d = type == WeightType::kQ8_0 ? std::fabs(most) / 127 : most / -8;
    const float inverse = d != 0 ? 1 / d : 0;
    const uint16_t half = ToF16(d);
    std::memcpy(to, &half, sizeof half);
    if (type == WeightType::kQ8_0) {
      for (int i = 0; i < 32; ++i) to[2 + i] = static_cast<uint8_t>(std::lround(from[i] * inverse));
      continue;
    }
    const auto nibble = [&](int i) {
      return static_cast<uint8_t>(std::min(15, static_cast<int>(from[i] * inverse + 8.5f)));
    };
    for (int i = 0; i < 16; ++i) to[2 + i] = nibble(i) | static_cast<uint8_t>(nibble(i + 16) << 4);
  }
}

std::vector<float> ReadWeight(const Weight& weight) {
  int64_t count = 1;
  for (const int64_t n : weight.shape) count *= n;
  std::vector<float> values(count);
  ReadWeight(weight, 0, count, values.data());
  return values;
}

void ReadWeight(const Weight& weight, int64_t offset, int64_t count, float* to) {
  const std::byte* from = weight.data.data() + BytesOf(weight.type, offset);
  if (IsQuantised(weight.type)) return Dequantise(weight.type, from, count, to);
  if (weight.type == WeightType::kF32) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
    to[i] = weight.type == WeightType::kF16 ? FromF16(bits) : FromBf16(bits);
  }
}

std::vector<std::byte> StoredAs(WeightType type, const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  std::vector<std::byte> bytes(BytesOf(type, count));
  if (type == WeightType::kF32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  } else if (IsQuantised(type)) {
    Quantise(type, values.data(), count, bytes.data());
  } else {
    for (size_t i = 0; i < values.size(); ++i) {
      const uint16_t bits = type == WeightType::kF16 ? ToF16(values[i]) : ToBf16(values[i]);
      std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
    }
  }
  return bytes;
}

}  // namespace agentr
