// Converts text to and from Java. Java's strings are UTF-16. JNI's own conversion is not used,
// because its modified UTF-8 encodes NUL and characters above U+FFFF differently.
#pragma once

#include <string>
#include <string_view>

namespace agentr {

// Bytes that are not UTF-8 become U+FFFD.
std::u16string Utf16(std::string_view utf8);

// Half a surrogate pair becomes U+FFFD.
std::string Utf8(std::u16string_view utf16);

}  // namespace agentr
