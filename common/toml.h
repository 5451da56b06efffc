// The part of TOML that option files use: `key = value` lines with strings, numbers, booleans and
// arrays of these, and comments. Tables are refused. Read by toml++ (https://toml.io/en/v1.0.0).
//
// CLI11's own reader and writer are not used: they disagree with each other about quotes and
// backslashes, and versions of CLI11 differ.
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

// The keys of `text` in the order of the text. Throws FatalError(kUsage) "line N: reason" for text
// that is not TOML, a key given twice, and values that no option takes.
std::vector<TomlItem> ParseToml(std::string_view text);

// Writes an object of strings, numbers, booleans and arrays of these, one line per key in the
// object's order. Empty arrays are left out: for an option they mean the same as no value. An
// integer above 2^63 - 1, which TOML cannot express, is written as a string, which ParseToml reads
// as the same text.
std::string ToToml(const nlohmann::ordered_json& object);

}  // namespace agentr
