#include "common/toml.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "common/json_depth.h"
#include "common/text.h"
#include "common/toml_library.h"

namespace agentr {
namespace {

[[noreturn]] void ThrowAt(size_t line, std::string_view reason) {
  throw FatalError(ExitCode::kUsage, fmt::format("line {}: {}", line, reason));
}

[[noreturn]] void ThrowAt(const toml::source_region& place, std::string_view reason) {
  ThrowAt(place.begin.line, reason);
}

// A quote begins a string only where a key or a value may begin. Elsewhere, as in 1'', it is part
// of a faulty number, which toml++ reads character by character.
bool MayBeginString(std::string_view text, size_t at) {
  if (text[at] != '"' && text[at] != '\'') return false;
  constexpr std::string_view kBefore = " \t\r\n=,.[{";
  if (at == 0 || kBefore.find(text[at - 1]) != std::string_view::npos) return true;
  return text.substr(0, at) == "\xef\xbb\xbf";
}

// The position after the string that begins at `at`; a single-line string ends at the end of its
// line at the latest.
size_t BehindString(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string_view three = quote == '"' ? R"(""")" : "'''";
  const bool many_lines = text.substr(at).starts_with(three);
  for (at += many_lines ? 3 : 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (many_lines && text.substr(at).starts_with(three)) {
      at += 3;
      // Up to two quotes before the closing three belong to the string.
      for (int more = 0; more < 2 && text.substr(at).starts_with(quote); ++more) ++at;
      return at;
    } else if (!many_lines && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    }
  }
  return text.size();
}

[[noreturn]] void ThrowAtByte(std::string_view text, size_t at, std::string_view reason) {
  ThrowAt(1 + static_cast<size_t>(std::ranges::count(text.substr(0, at), '\n')), reason);
}

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 128; }

// The character of valid UTF-8 at the front of `text`, which it removes, as TOML's escape.
std::string TakeEscaped(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t code = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  text.remove_prefix(length);
  return fmt::format("\\U{:08X}", code);
}

// TOML has no escape of a non-ASCII character. A body that ends with a backslash has lost one of its
// closing quotes to it.
void CheckEscapes(std::string_view text, std::string_view body) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') continue;
    if (++i < body.size() && IsAscii(body[i])) continue;
    ThrowAtByte(text, static_cast<size_t>(body.data() - text.data()) + i - 1,
                "a backslash before a non-ASCII character or the end of the string; write two "
                "backslashes for one");
  }
}

// The body of a string in ASCII, for double quotes. A literal string (in single quotes) has no
// escapes: its own backslashes and double quotes become some.
std::string AsciiBody(std::string_view body, bool is_literal) {
  std::string ascii;
  while (!body.empty()) {
    const char c = body.front();
    if (!IsAscii(c)) {
      ascii += TakeEscaped(body);
      continue;
    }
    if (is_literal && (c == '\\' || c == '"')) ascii += '\\';
    const size_t length = !is_literal && c == '\\' ? 2 : 1;
    ascii += body.substr(0, length);
    body.remove_prefix(length);
  }
  return ascii;
}

// The string text[begin, end) in ASCII, with double quotes if it has other characters.
std::string AsciiString(std::string_view text, size_t begin, size_t end) {
  const std::string_view string = text.substr(begin, end - begin);
  if (std::ranges::all_of(string, IsAscii)) return std::string(string);
  const bool is_literal = string.front() == '\'';
  const size_t quotes = string.starts_with(std::string(3, string.front())) ? 3 : 1;
  const bool ends =
      string.size() >= 2 * quotes && string.ends_with(std::string(quotes, string.front()));
  if (!ends) ThrowAtByte(text, begin, "a string that begins here does not end");
  const std::string_view body = string.substr(quotes, string.size() - 2 * quotes);
  if (!is_literal) CheckEscapes(text, body);
  return std::string(quotes, '"') + AsciiBody(body, is_literal) + std::string(quotes, '"');
}

}  // namespace

// TOML allows other characters only in strings, where they become escapes, and in comments. toml++
// (3.3 and 3.4) reaches code that it declares unreachable at some of them, so it sees none.
std::string ToAsciiToml(std::string_view text) {
  if (const size_t valid = Utf8Prefix(text); valid < text.size()) {
    ThrowAtByte(text, valid, "a byte that is not valid UTF-8");
  }
  std::string ascii;
  size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (at < text.size()) {
    if (!IsAscii(text[at])) {
      ThrowAtByte(text, at, "a non-ASCII character outside of a string; put text into quotes");
    }
    size_t end = at + 1;
    if (text[at] == '#') {
      end = std::min(text.find('\n', at), text.size());
      for (const char c : text.substr(at, end - at)) ascii += IsAscii(c) ? c : '?';
    } else if (MayBeginString(text, at)) {
      end = BehindString(text, at);
      ascii += AsciiString(text, at, end);
    } else {
      ascii += text[at];
    }
    at = end;
  }
  return ascii;
}

namespace {

// In the form that CLI11 reads: a float keeps its decimal point, so that CLI11 does not accept it
// as an integer.
std::string NumberText(double number) {
  return std::isfinite(number) ? nlohmann::json(number).dump() : fmt::format("{}", number);
}

std::string ValueText(const toml::node& node) {
  if (const auto* const text = node.as_string()) return text->get();
  if (const auto* const number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* const number = node.as_floating_point()) return NumberText(number->get());
  if (const auto* const truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (node.is_table()) {
    ThrowAt(node.source(), "tables are not allowed: write the option as key = value");
  }
  if (node.is_array()) ThrowAt(node.source(), "no option takes an array inside an array");
  ThrowAt(node.source(), "no option takes a date or a time; put text into quotes");
}

std::vector<std::string> ValueTexts(const toml::node& node) {
  const toml::array* const array = node.as_array();
  if (array == nullptr) return {ValueText(node)};
  std::vector<std::string> values;
  for (const toml::node& value : *array) values.push_back(ValueText(value));
  return values;
}

toml::table ParseTable(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    ThrowAt(error.source(),
            fmt::format("{} (expected: key = value, one on a line, with text in quotes)",
                        error.description()));
  }
}

// TOML's integers end at 2^63 - 1: a larger one is written as text.
std::string ValueToml(const nlohmann::ordered_json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) {
    return fmt::format("\"{}\"", value.get<uint64_t>());
  }
  // JSON's strings, numbers, booleans and their arrays are TOML too, except for DEL in a string.
  std::string text = DumpJson(value);
  ReplaceAll(text, "\x7f", "\\u007f");
  return text;
}

}  // namespace

std::vector<TomlItem> ParseToml(std::string_view text) {
  const toml::table parsed = ParseTable(ToAsciiToml(text));
  // The library sorts keys by name. Errors are reported in the order of the file, so restore that
  // order.
  std::vector<std::pair<const toml::key*, const toml::node*>> in_order;
  for (const auto& [key, node] : parsed) in_order.emplace_back(&key, &node);
  std::ranges::sort(in_order, {}, [](const auto& entry) {
    const toml::source_position& begin = entry.first->source().begin;
    return std::tuple(begin.line, begin.column);
  });
  std::vector<TomlItem> items;
  for (const auto& [key, node] : in_order) {
    items.push_back({std::string(key->str()), ValueTexts(*node)});
  }
  return items;
}

std::string ToToml(const nlohmann::ordered_json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    if (value.is_array() && value.empty()) continue;
    text += fmt::format("{} = {}\n", key, ValueToml(value));
  }
  return text;
}

}  // namespace agentr
