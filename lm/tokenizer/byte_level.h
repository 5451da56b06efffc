// The alphabet of byte-level vocabularies: each byte is written as one printable character
// (Radford et al. 2019).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentr {

// The character that stands for `byte`, as UTF-8: printable bytes of Latin-1 stand for themselves,
// the others for U+0100, U+0101, … in their order.
std::string ByteLevelCharacter(uint8_t byte);

// The bytes that `text` spells in these characters; nullopt if it has any other character.
std::optional<std::string> ByteLevelBytes(std::string_view text);

}  // namespace agentr
