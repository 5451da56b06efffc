#include "games/search/bm25.h"

#include <bit>
#include <cmath>

namespace agentr {
namespace {

constexpr uint32_t kExact = 24;  // lengths up to this are stored exactly; the excess is a small
                                 // float
constexpr uint32_t kMantissaBits = 3;

}  // namespace

uint8_t LengthCode(uint32_t length) {
  if (length < kExact) return static_cast<uint8_t>(length);
  const uint32_t rest = length - kExact;
  const auto width = static_cast<uint32_t>(std::bit_width(rest));
  if (width <= kMantissaBits) return static_cast<uint8_t>(kExact + rest);
  const uint32_t shift = width - kMantissaBits - 1;
  const uint32_t mantissa = (rest >> shift) & ((1U << kMantissaBits) - 1);  // without the leading 1
  return static_cast<uint8_t>(kExact + (((shift + 1) << kMantissaBits) | mantissa));
}

uint32_t CodedLength(uint8_t code) {
  if (code < kExact) return code;
  const uint32_t rest = code - kExact;
  const uint32_t exponent = rest >> kMantissaBits;
  const uint32_t mantissa = rest & ((1U << kMantissaBits) - 1);
  if (exponent == 0) return kExact + mantissa;
  return kExact + ((mantissa | (1U << kMantissaBits)) << (exponent - 1));
}

float InverseDocumentFrequency(uint64_t documents, uint64_t with_term) {
  const auto n = static_cast<double>(documents);
  const auto df = static_cast<double>(with_term);
  return static_cast<float>(std::log(1 + (n - df + 0.5) / (df + 0.5)));
}

InverseLengths MakeInverseLengths(float average) {
  constexpr float kK1 = 0.9F;
  constexpr float kB = 0.4F;
  InverseLengths inverse{};
  for (size_t code = 0; code < inverse.size(); ++code) {
    const auto length = static_cast<float>(CodedLength(static_cast<uint8_t>(code)));
    inverse[code] = 1.0F / (kK1 * ((1.0F - kB) + kB * length / average));
  }
  return inverse;
}

}  // namespace agentr
