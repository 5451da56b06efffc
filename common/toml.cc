#include "common/toml.h"

// Compiled in here, without the package's shared library, whose layout depends on these macros.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace agentr {
namespace {

[[noreturn]] void ThrowAt(const toml::source_region& place, std::string_view reason) {
  throw FatalError(ExitCode::kUsage, fmt::format("line {}: {}", place.begin.line, reason));
}

// As CLI11 reads it: a float keeps its decimal point, so that it is no integer there either.
std::string NumberText(double number) {
  return std::isfinite(number) ? nlohmann::json(number).dump() : fmt::format("{}", number);
}

std::string ValueText(const toml::node& node) {
  if (const auto* const text = node.as_string()) return text->get();
  if (const auto* const number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* const number = node.as_floating_point()) return NumberText(number->get());
  if (const auto* const truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (node.is_table()) {
    ThrowAt(node.source(), "tables are not used here: write the option as key = value");
  }
  if (node.is_array()) ThrowAt(node.source(), "an array inside an array suits no option");
  ThrowAt(node.source(), "dates and times suit no option; put text into quotes");
}

std::vector<std::string> ValueTexts(const toml::node& node) {
  const toml::array* const array = node.as_array();
  if (array == nullptr) return {ValueText(node)};
  std::vector<std::string> values;
  for (const toml::node& value : *array) values.push_back(ValueText(value));
  return values;
}

// TOML's integers end at 2^63 - 1: a larger one is written as text.
std::string ValueToml(const nlohmann::ordered_json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) {
    return fmt::format("\"{}\"", value.get<uint64_t>());
  }
  // JSON's strings, numbers, booleans and their arrays are TOML too, except for DEL in a string.
  std::string text =
      value.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('\x7f', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u007f");
  }
  return text;
}

}  // namespace

std::vector<TomlItem> ParseToml(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    ThrowAt(parsed.error().source(),
            fmt::format("{} (expected: key = value, one on a line, with text in quotes)",
                        parsed.error().description()));
  }
  // The library sorts keys by name; the order of the file is that of errors.
  std::vector<std::pair<const toml::key*, const toml::node*>> in_order;
  for (const auto& [key, node] : parsed.table()) in_order.emplace_back(&key, &node);
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
