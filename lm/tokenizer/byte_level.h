// The alphabet of byte-level vocabularies: each byte is written as one printable character
// (Radford et al. 2019).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentr {

// The bytes that `text` spells in these characters; nullopt if it has any other character.
std::optional<std::string> ByteLevelBytes(std::string_view text);

}  // namespace agentr
