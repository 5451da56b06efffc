#include "lm/tokenizer/byte_level.h"

#include <algorithm>
#include <array>

#include "common/utf8.h"

namespace agentr {
namespace {

constexpr std::array<int32_t, 256> CodePoints() {
  std::array<int32_t, 256> code_points{};
  int32_t next = 0x100;
  for (int32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    code_points[byte] = printable ? byte : next++;
  }
  return code_points;
}

constexpr std::array<int32_t, 256> kCodePoints = CodePoints();  // of each byte

}  // namespace

std::optional<std::string> ByteLevelBytes(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const auto* found = std::ranges::find(kCodePoints, NextCodePoint(text, at));
    if (found == kCodePoints.end()) return std::nullopt;
    bytes += static_cast<char>(found - kCodePoints.begin());
  }
  return bytes;
}

}  // namespace agentr
