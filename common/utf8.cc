#include "common/utf8.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace agentr {

int32_t NextCodePoint(std::string_view text, size_t& at) {
  UChar32 code_point;
  U8_NEXT(text, at, text.size(), code_point);
  return code_point;
}

bool IsValidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (NextCodePoint(text, at) < 0) return false;
  }
  return true;
}

std::string ToValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (NextCodePoint(text, at) < 0) {
      valid += "\uFFFD";
    } else {
      valid += text.substr(begin, at - begin);
    }
  }
  return valid;
}

size_t CompleteLength(std::string_view bytes) {
  // A character has at most four bytes, so an incomplete one begins in the last three.
  for (size_t back = 1; back <= std::min<size_t>(3, bytes.size()); ++back) {
    const size_t begin = bytes.size() - back;
    if (!U8_IS_LEAD(static_cast<uint8_t>(bytes[begin]))) continue;
    size_t at = begin;
    const bool cut = NextCodePoint(bytes, at) < 0 && at == bytes.size();
    return cut ? begin : bytes.size();
  }
  return bytes.size();
}

void AppendCodePoint(int32_t code_point, std::string& text) {
  char bytes[U8_MAX_LENGTH];
  size_t size = 0;
  U8_APPEND_UNSAFE(bytes, size, code_point);
  text.append(bytes, size);
}

std::string_view StripSpace(std::string_view text) {
  size_t begin = text.size(), end = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    if (u_isspace(NextCodePoint(text, at))) continue;
    begin = std::min(begin, here);
    end = at;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

}  // namespace agentr
