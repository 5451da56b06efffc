// The names of an enumeration's values, for options, files and messages: one table next to the
// enumeration says them all.
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

// The value of this name, if there is one.
template <typename E, size_t n>
constexpr std::optional<E> ValueOf(const std::array<NamedValue<E>, n>& names,
                                   std::string_view name) {
  for (const auto& [known, value] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace agentr
