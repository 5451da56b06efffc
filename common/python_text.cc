#include "common/python_text.h"

#include <fmt/format.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "common/text.h"
#include "common/utf8.h"

namespace agentr {
namespace {

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// str.isspace() of one character: Unicode white space, and four ASCII separators.
bool IsPythonSpace(UChar32 c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || c == 0x85 ||
         u_charType(c) == U_SPACE_SEPARATOR || u_charType(c) == U_LINE_SEPARATOR ||
         u_charType(c) == U_PARAGRAPH_SEPARATOR;
}

// str.isprintable() of one character.
bool IsPythonPrintable(UChar32 c) {
  constexpr uint32_t kNotPrinted = U_GC_C_MASK | U_GC_Z_MASK;
  return c == ' ' || (c >= 0 && (U_GET_GC_MASK(c) & kNotPrinted) == 0);
}

// Moves the escape of a Python literal at the beginning of `rest` into `out`, as one byte. False if
// it is malformed or means no Latin-1 character.
bool ReadEscape(std::string_view& rest, std::string& out) {
  if (rest.size() < 2) return false;
  static constexpr std::string_view kLetters = "\\'\"abfnrtv";
  static constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  static constexpr std::string_view kNumbers = "xuU";
  static constexpr std::array<size_t, 3> kDigits = {2, 4, 8};
  const char kind = rest[1];
  const auto take = [&](std::string_view digits, int base, size_t before) {
    uint32_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value, base);
    if (read.ec != std::errc() || read.ptr != end || value > 0xFF) return false;
    out += static_cast<char>(value);
    rest.remove_prefix(before + digits.size());
    return true;
  };
  if (kind >= '0' && kind <= '7') {
    const size_t end = std::min(rest.find_first_not_of("01234567", 1), rest.size());
    return take(rest.substr(1, std::min<size_t>(end - 1, 3)), 8, 1);
  }
  const size_t number = kNumbers.find(kind);
  if (number != std::string_view::npos) {
    const std::string_view digits = rest.substr(2, kDigits[number]);
    return digits.size() == kDigits[number] && take(digits, 16, 2);
  }
  if (kind == 'N') return false;
  const size_t letter = kLetters.find(kind);
  if (letter != std::string_view::npos) {
    out += kMeanings[letter];
  } else if (kind != '\n') {  // which joins two lines
    out += {'\\', kind};
  }
  rest.remove_prefix(2);
  return true;
}

}  // namespace

std::string PythonFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const auto scientific =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(scientific.ptr - buffer));
  int exponent = 0;
  const size_t e = text.find('e');
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(),
                  exponent);
  if (exponent < -4 || exponent >= 16) return std::string(text);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string out(buffer, fixed.ptr);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string_view PythonStrip(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
  int32_t begin = 0;
  auto end = static_cast<int32_t>(text.size());
  while (begin < end) {
    int32_t next = begin;
    UChar32 c = 0;
    U8_NEXT(bytes, next, end, c);
    if (!IsPythonSpace(c)) break;
    begin = next;
  }
  while (end > begin) {
    int32_t previous = end;
    UChar32 c = 0;
    U8_PREV(bytes, begin, previous, c);
    if (!IsPythonSpace(c)) break;
    end = previous;
  }
  return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

std::string PythonLower(std::string_view text) {
  if (IsAscii(text)) return AsciiLower(text);
  std::string lower;
  icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())))
      .toLower(icu::Locale::getRoot())
      .toUTF8String(lower);
  return lower;
}

std::string PythonRepr(std::string_view text) {
  const bool single = text.find('\'') == std::string_view::npos;
  const char quote = single || text.find('"') != std::string_view::npos ? '\'' : '"';
  std::string out(1, quote);
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const int32_t c = NextCodePoint(text, i);
    static constexpr std::string_view kShort = "\\\n\r\t";
    static constexpr std::string_view kNames = "\\nrt";
    const size_t at = c < 0x80 ? kShort.find(static_cast<char>(c)) : std::string_view::npos;
    if (at != std::string_view::npos) {
      out += {'\\', kNames[at]};
    } else if (c == quote) {
      out += {'\\', quote};
    } else if (c < 0 || IsPythonPrintable(c)) {
      out += text.substr(begin, i - begin);
    } else {
      fmt::format_to(std::back_inserter(out),
                     fmt::runtime(c < 0x100     ? "\\x{:02x}"
                                  : c < 0x10000 ? "\\u{:04x}"
                                                : "\\U{:08x}"),
                     c);
    }
  }
  return out + quote;
}

std::string PythonUnescape(std::string text) {
  if (text.find('\\') == std::string::npos) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    if (rest.front() != '\\') {
      out += rest.front();
      rest.remove_prefix(1);
    } else if (!ReadEscape(rest, out)) {
      return text;
    }
  }
  return IsUtf8(out) ? out : text;
}

void AppendPythonJson(std::string_view text, std::string& out) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    int32_t c = NextCodePoint(text, i);
    if (c < 0) c = 0xFFFD;
    static constexpr std::string_view kShort = "\"\\\n\r\t\f\b";
    static constexpr std::string_view kNames = "\"\\nrtfb";
    const size_t at = c < 0x80 ? kShort.find(static_cast<char>(c)) : std::string_view::npos;
    if (at != std::string_view::npos) {
      out += '\\';
      out += kNames[at];
    } else if (c >= 0x20 && c < 0x7F) {
      out += static_cast<char>(c);
    } else if (c < 0x10000) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xD800 + ((c - 0x10000) >> 10),
                     0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }
  out += '"';
}

}  // namespace agentr
