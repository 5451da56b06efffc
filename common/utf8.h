// UTF-8 functions for the tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace agentr {

// The code point of `text` at byte `at`; moves `at` past it. -1 for a maximal ill-formed
// subsequence (Unicode 3.9, table 3-8), which Python's errors="replace" also treats as one unit.
int32_t NextCodePoint(std::string_view text, size_t& at);

// `text` with U+FFFD in place of each maximal ill-formed subsequence.
std::string ToValidUtf8(std::string_view text);
bool IsValidUtf8(std::string_view text);

// The length of `bytes` without an incomplete character at the end that more bytes could complete.
size_t CompleteLength(std::string_view bytes);

void AppendCodePoint(int32_t code_point, std::string& text);

// `text` without white space at both ends, like Python's str.strip().
std::string_view StripSpace(std::string_view text);

}  // namespace agentr
