// Takes text apart, and prepares it for files and terminals.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// Without the characters of `blanks` at both ends.
std::string_view Trim(std::string_view text, std::string_view blanks = " \t\r\n");

// The trimmed pieces between the separators; they may be empty.
std::vector<std::string_view> SplitText(std::string_view text, char separator);

// The words between blanks; none is empty.
std::vector<std::string_view> SplitWords(std::string_view text,
                                         std::string_view blanks = " \t\r\n");

// A to Z become a to z; all other bytes, those of UTF-8 too, stay as they are.
constexpr char AsciiLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string AsciiLower(std::string_view text);
constexpr bool IsAsciiLetter(char c) { return AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z'; }
constexpr bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }
bool EqualIgnoringCase(std::string_view a, std::string_view b);

// `from` is not empty.
void ReplaceAll(std::string& text, std::string_view from, std::string_view to);

// The number that is all of `text`; nullopt for other text and for numbers that T cannot hold.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

// With %41 as A, as in URLs (RFC 3986, 2.1); what is no such escape stays.
std::string PercentDecoded(std::string_view text);

// The text as text or attribute of an HTML page.
std::string EscapeHtml(std::string_view text);

// An observation on one line: line breaks and tabs become spaces.
std::string OneLine(std::string text);

// At most `columns` characters of the text; `mark` is the last of them where something is cut off.
std::string FitColumns(std::string_view text, int columns, std::string_view mark = "…");

// The number of bytes before the first that is not UTF-8.
size_t Utf8Prefix(std::string_view text);

bool IsUtf8(std::string_view text);

// Makes text of a model, an environment, a server or a file safe to show on a terminal. Control
// characters, which could move the cursor, change colours or forge lines, and bytes that are not
// UTF-8 become "\n", "\t", "\r" or "\x1b" (U+009B, which also begins an escape sequence, becomes
// "\x9b"); marks that reverse the direction of writing become "\u202e". Characters in `keep` stay
// as they are.
std::string EscapeControls(std::string_view text, std::string_view keep = "");

}  // namespace agentr
