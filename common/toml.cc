#include "common/toml.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "common/json_depth.h"
#include "common/text.h"
#include "common/toml_library.h"

namespace agentr {
namespace {

[[noreturn]] void ThrowAt(const toml::source_region& place, std::string_view reason) {
  throw FatalError(ExitCode::kUsage, fmt::format("line {}: {}", place.begin.line, reason));
}

// In the form that CLI11 reads: a float keeps its decimal point, so that CLI11 does not accept it
// as an integer.
std::string NumberText(double number) {
  return std::isfinite(number) ? nlohmann::json(number).dump() : fmt::format("{}", number);
}

std::string ValueText(const toml::node& node) {
  if (const auto* const text = node.as_string()) return text->get();
  if (const auto* const number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* const number = node.as_floating_point()) return NumberText(number->get());
  if (const auto* const truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (node.is_table()) {
    ThrowAt(node.source(), "tables are not allowed: write the option as key = value");
  }
  if (node.is_array()) ThrowAt(node.source(), "no option takes an array inside an array");
  ThrowAt(node.source(), "no option takes a date or a time; put text into quotes");
}

std::vector<std::string> ValueTexts(const toml::node& node) {
  const toml::array* const array = node.as_array();
  if (array == nullptr) return {ValueText(node)};
  std::vector<std::string> values;
  for (const toml::node& value : *array) values.push_back(ValueText(value));
  return values;
}

toml::table ParseTable(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    ThrowAt(error.source(),
            fmt::format("{} (expected: key = value, one on a line, with text in quotes)",
                        error.description()));
  }
}

// TOML's integers end at 2^63 - 1: a larger one is written as text.
std::string ValueToml(const nlohmann::ordered_json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) {
    return fmt::format("\"{}\"", value.get<uint64_t>());
  }
  // JSON's strings, numbers, booleans and their arrays are TOML too, except for DEL in a string.
  std::string text = DumpJson(value);
  ReplaceAll(text, "\x7f", "\\u007f");
  return text;
}

}  // namespace

std::vector<TomlItem> ParseToml(std::string_view text) {
  const toml::table parsed = ParseTable(text);
  // The library sorts keys by name. Errors are reported in the order of the file, so restore that
  // order.
  std::vector<std::pair<const toml::key*, const toml::node*>> in_order;
  for (const auto& [key, node] : parsed) in_order.emplace_back(&key, &node);
  std::ranges::sort(in_order, {}, [](const auto& entry) {
    const toml::source_position& begin = entry.first->source().begin;
    return std::tuple(begin.line, begin.column);
  });
  std::vector<TomlItem> items;
  for (const auto& [key, node] : in_order) {
    items.push_back({std::string(key->str()), ValueTexts(*node)});
  }
  return items;
}

std::string ToToml(const nlohmann::ordered_json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    if (value.is_array() && value.empty()) continue;
    text += fmt::format("{} = {}\n", key, ValueToml(value));
  }
  return text;
}

}  // namespace agentr
