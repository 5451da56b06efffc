// Text as it is stored and shown.
#pragma once

#include <string>
#include <string_view>

namespace agentr {

// An observation on one line: line breaks and tabs become spaces.
std::string OneLine(std::string text);

bool IsUtf8(std::string_view text);

// `text` as it may be shown on a terminal, for whatever a model, an environment, a server or a file
// says: control characters, which could move the cursor, change colours or forge lines, and bytes
// that are no UTF-8 are written as "\n", "\t", "\r" or "\x1b" (U+009B, the other way to begin such a
// sequence, as "\x9b"), marks that turn the direction of writing as "\u202e". Those in `keep` stay
// as they are.
std::string EscapeControls(std::string_view text, std::string_view keep = "");

}  // namespace agentr
