// The part of TOML that option files use: `key = value` lines with strings, numbers, booleans and
// arrays of these, and comments. No tables.
//
// Apart from CLI11's own reader and writer, which do not agree with each other about quotes and
// backslashes, nor from one version to the next.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace agentr {

struct TomlItem {
  std::string key;
  std::vector<std::string> values;  // as text, without quotes; one unless the value is an array
};

// Throws FatalError(kUsage) "line N: reason".
std::vector<TomlItem> ParseToml(std::string_view text);

// An object of strings, numbers, booleans and arrays of these, one line per key in its order. Empty
// arrays are left out: to an option they mean the same as nothing.
std::string ToToml(const nlohmann::ordered_json& object);

}  // namespace agentr
