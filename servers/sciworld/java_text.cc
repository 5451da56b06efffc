#include "servers/sciworld/java_text.h"

#include <unicode/unistr.h>

namespace agentr {

std::u16string Utf16(std::string_view utf8) {
  const auto text = icu::UnicodeString::fromUTF8(
      icu::StringPiece(utf8.data(), static_cast<int32_t>(utf8.size())));
  return {text.getBuffer(), static_cast<size_t>(text.length())};
}

std::string Utf8(std::u16string_view utf16) {
  std::string out;
  icu::UnicodeString(utf16.data(), static_cast<int32_t>(utf16.size())).toUTF8String(out);
  return out;
}

}  // namespace agentr
