// Typed reading of JSON. Every reader of files, requests and replies uses these rules for which
// JSON values can become a T, and adds only its own way to report an error; JsonField is the reader
// for our own files.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/named_values.h"

namespace agentr {

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

// True if `value` has the JSON type for T and T can hold it: no number is truncated to an integer,
// wraps around or becomes infinite, and true and false are not numbers. T: bool, std::string, an
// integer, a floating-point number, a std::vector of these; Json::array_t is any array.
template <typename T, typename Json>
bool IsJson(const Json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string();
  } else if constexpr (std::is_same_v<T, typename Json::array_t>) {
    return value.is_array();
  } else if constexpr (IsVector<T>::value) {
    if (!value.is_array()) return false;
    for (const Json& item : value) {
      if (!IsJson<typename T::value_type>(item)) return false;
    }
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    if (value.is_number_unsigned()) return std::in_range<T>(value.template get<uint64_t>());
    return value.is_number_integer() && std::in_range<T>(value.template get<int64_t>());
  } else {
    static_assert(std::is_floating_point_v<T>, "JSON has nothing that this type is read from");
    return value.is_number() &&
           std::abs(value.template get<double>()) <= double{std::numeric_limits<T>::max()};
  }
}

// The values that IsJson<T> accepts, to complete "… is not": "a string", "an integer from 0 to
// 255".
template <typename T>
std::string JsonTypeName() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "a string";
  } else if constexpr (IsVector<T>::value) {
    if constexpr (nlohmann::detail::is_basic_json<typename T::value_type>::value) return "a list";
    return "a list, each item of it " + JsonTypeName<typename T::value_type>();
  } else if constexpr (std::is_integral_v<T>) {
    return fmt::format("an integer from {} to {}", std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max());
  } else {
    return "a number";
  }
}

// Field `name` of `object`. Throws std::invalid_argument that names the field.
template <typename T, typename Json>
T JsonField(const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name)) {
    throw std::invalid_argument(fmt::format("field \"{}\" is missing", name));
  }
  const Json& value = object.at(name);
  if (!IsJson<T>(value)) {
    throw std::invalid_argument(
        fmt::format("field \"{}\" ({}) is not {}", name, value.type_name(), JsonTypeName<T>()));
  }
  return value.template get<T>();
}

// The same, with a value for a field that is left out.
template <typename T, typename Json>
T JsonFieldOr(const Json& object, const char* name, T absent) {
  return object.contains(name) ? JsonField<T>(object, name) : absent;
}

// Field `name`, a text of `names`, as the value that has this name. Throws likewise.
template <typename E, size_t n>
E JsonField(const nlohmann::ordered_json& object, const char* name,
            const std::array<NamedValue<E>, n>& names) {
  const auto text = JsonField<std::string>(object, name);
  if (const auto value = ValueOf(names, text)) return *value;
  throw std::invalid_argument(fmt::format("field \"{}\": \"{}\" is unknown", name, text));
}

// What `fault` says, without the library's "[json.exception.…] " before it.
inline std::string_view PlainFault(const nlohmann::json::exception& fault) {
  const std::string_view what = fault.what();
  const size_t end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

// read(), which reads a record that a program of ours wrote. What is wrong with the record, such
// as a field that is missing, of another type or out of its range, becomes a FatalError(kFile):
// `file`, the fault, and `cure`, a sentence.
template <typename Read>
auto ReadingRecord(const std::string& file, std::string_view cure, const Read& read) {
  const auto refuse = [&](std::string_view fault) {
    return FatalError(ExitCode::kFile, fmt::format("{}: {}. Cure: {}", file, fault, cure));
  };
  try {
    return read();
  } catch (const nlohmann::json::exception& fault) {
    throw refuse(PlainFault(fault));
  } catch (const std::invalid_argument& fault) {
    throw refuse(fault.what());
  }
}

}  // namespace agentr
