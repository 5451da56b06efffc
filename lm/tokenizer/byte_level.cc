#include "lm/tokenizer/byte_level.h"

#include <algorithm>
#include <array>

#include "common/utf8.h"

namespace agentr {
namespace {

std::array<int32_t, 256> CodePoints() {
  std::array<int32_t, 256> code_points;
  int32_t next = 0x100;
  for (int32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    code_points[byte] = printable ? byte : next++;
  }
  return code_points;
}

const std::array<int32_t, 256>& Table() {
  static const std::array<int32_t, 256> table = CodePoints();
  return table;
}

}  // namespace

std::optional<std::string> ByteLevelBytes(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const auto found = std::find(Table().begin(), Table().end(), NextCodePoint(text, at));
    if (found == Table().end()) return std::nullopt;
    bytes += static_cast<char>(found - Table().begin());
  }
  return bytes;
}

}  // namespace agentr
