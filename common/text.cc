#include "common/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace agentr {
namespace {

// The bytes of the UTF-8 sequence that `text` begins with; 0 where it begins with none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 0;
  if (length == 0 || byte(0) > 0xf4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// The code point of a UTF-8 sequence that is a mark which changes the direction of writing, so that
// a line looks different from its content: U+200E and F, U+202A to E, U+2066 to 9. Else 0.
unsigned DirectionMark(std::string_view sequence) {
  if (sequence.size() != 3 || sequence[0] != '\xe2') return 0;
  const unsigned code = 0x2000U | (static_cast<unsigned char>(sequence[1]) & 0x3fU) << 6 |
                        (static_cast<unsigned char>(sequence[2]) & 0x3fU);
  const bool turns = (code >= 0x200e && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
  return turns ? code : 0;
}

void AppendEscaped(unsigned char byte, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (byte) {
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      out.append("\\x").append({kHex[byte >> 4], kHex[byte & 15]});
  }
}

}  // namespace

std::string_view Trim(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(Trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return pieces;
}

std::vector<std::string_view> SplitWords(std::string_view text, std::string_view blanks) {
  std::vector<std::string_view> words;
  while (!(text = Trim(text, blanks)).empty()) {
    words.push_back(text.substr(0, text.find_first_of(blanks)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = AsciiLower(c);
  return lower;
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return AsciiLower(x) == AsciiLower(y); });
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    out += escape ? static_cast<char>(byte) : text[i];
    if (escape) i += 2;
  }
  return out;
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string OneLine(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return text;
}

std::string FitColumns(std::string_view text, int columns, std::string_view mark) {
  const auto begins_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  };
  const auto kept = columns - std::ranges::count_if(mark, begins_character);
  int seen = 0;
  size_t cut = 0;  // where the mark would stand
  for (size_t i = 0; i < text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    if (seen == kept) cut = i;
    if (++seen > columns) return std::string(text.substr(0, cut)).append(mark);
  }
  return std::string(text);
}

size_t Utf8Prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

bool IsUtf8(std::string_view text) { return Utf8Prefix(text) == text.size(); }

std::string EscapeControls(std::string_view text, std::string_view keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool c1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    const bool control = length == 0 || first < 0x20 || first == 0x7f || c1;
    if (const unsigned mark = DirectionMark(text.substr(0, length)); mark != 0) {
      out += fmt::format("\\u{:04x}", mark);
    } else if (!control || keep.find(text.front()) != std::string_view::npos) {
      out += text.substr(0, length);
    } else {
      AppendEscaped(static_cast<unsigned char>(text[c1 ? 1 : 0]), out);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

}  // namespace agentr
