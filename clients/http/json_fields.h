// JSON bodies. Any text can be written. Reading is strict: a field that is missing or has the wrong
// type is a kProtocol error that names it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/json_fields.h"

namespace agentr {

// The value in `text`; `what` names the reply in messages ("/step reply"). Too deep nesting
// (common/json_depth.h) is an error too.
Result<nlohmann::json> ParseJson(std::string_view text, const std::string& what);

// The same for an object; another value is an error.
Result<nlohmann::json> ParseObject(std::string_view text, const std::string& what);

// False for what servers write for nothing: null, false, 0, "", [] and {}.
inline bool IsSaid(const auto& value) {
  return !value.empty() && value != "" && value != false && value != 0;
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
