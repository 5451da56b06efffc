// Text for Java and back. Java's strings are UTF-16; JNI's own conversion speaks a modified UTF-8,
// which writes characters past U+FFFF and NUL in another way, and is not used.
#pragma once

#include <string>
#include <string_view>

namespace agentr {

// Bytes that are no UTF-8 become U+FFFD.
std::u16string Utf16(std::string_view utf8);

// Half a surrogate pair becomes U+FFFD.
std::string Utf8(std::u16string_view utf16);

}  // namespace agentr
