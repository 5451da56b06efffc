// JSON bodies: written for any text, and read strictly: what is missing or of the wrong type is a
// kProtocol error that names the field.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/error.h"

namespace agentr {

// The object in `text`; `what` names the reply in messages ("/step reply"). Nested deeper than any
// reply is, it is an error too: what is done with values is recursive.
Result<nlohmann::json> ParseObject(std::string_view text, const std::string& what);

// `value` on one line. Text from a model may hold a cut UTF-8 sequence: the server shall see U+FFFD
// rather than the call fail.
std::string JsonText(const nlohmann::json& value);

// True if `value` has the JSON type that T is read from; numbers are not cut to integers.
template <typename T>
bool IsJson(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
  if constexpr (std::is_same_v<T, std::string>) return value.is_string();
  if constexpr (std::is_same_v<T, nlohmann::json::array_t>) return value.is_array();
  if constexpr (std::is_integral_v<T>) return value.is_number_integer();
  if constexpr (std::is_floating_point_v<T>) return value.is_number();
  return false;
}

// Field `name` of `object` as a T: bool, std::string, an integer, a floating-point number, or
// nlohmann::json::array_t.
template <typename T>
Result<T> Field(const nlohmann::json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) return Fail(ErrorKind::kProtocol, "field '" + name + "' is missing");
  if (!IsJson<T>(*found)) {
    return Fail(ErrorKind::kProtocol,
                "field '" + name + "' has the wrong type (" + found->type_name() + ")");
  }
  return found->template get<T>();
}

}  // namespace agentr
