// The names of an enumeration's values, for options and for files.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace agentr {

template <typename E>
using NamedValue = std::pair<std::string_view, E>;

// The name of `value`, which `names` must contain.
template <typename E, size_t n>
std::string NameOf(const std::array<NamedValue<E>, n>& names, E value) {
  for (const auto& [name, named] : names) {
    if (named == value) return std::string(name);
  }
  return "";
}

}  // namespace agentr
