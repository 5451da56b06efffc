// The names of an enumeration's values, for options, files and messages. One table next to the
// enumeration holds all of them.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace agentr {

template <typename E>
using NamedValue = std::pair<std::string_view, E>;

// The name of `value`; "unknown" if `names` does not contain it.
template <typename E, size_t n>
constexpr std::string_view NameOf(const std::array<NamedValue<E>, n>& names, E value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return "unknown";
}

// The value of this name, if there is one. `names`: any range of NamedValue.
template <typename Names>
constexpr auto ValueOf(const Names& names, std::string_view name) {
  std::optional<typename Names::value_type::second_type> found;
  for (const auto& [known, value] : names) {
    if (known == name) found = value;
  }
  return found;
}

}  // namespace agentr
