#pragma once

#include <string>
#include <string_view>

namespace agentr {

// SHA-256 of the bytes, as 64 lower-case hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace agentr
