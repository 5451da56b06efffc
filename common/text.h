// Prepares text for files and terminals.
#pragma once

#include <string>
#include <string_view>

namespace agentr {

// An observation on one line: line breaks and tabs become spaces.
std::string OneLine(std::string text);

// The number of bytes before the first that is not UTF-8.
size_t Utf8Prefix(std::string_view text);

bool IsUtf8(std::string_view text);

// Makes text of a model, an environment, a server or a file safe to show on a terminal. Control
// characters, which could move the cursor, change colours or forge lines, and bytes that are not
// UTF-8 become "\n", "\t", "\r" or "\x1b" (U+009B, which also begins an escape sequence, becomes
// "\x9b"); marks that reverse the direction of writing become "\u202e". Characters in `keep` stay as
// they are.
std::string EscapeControls(std::string_view text, std::string_view keep = "");

}  // namespace agentr
