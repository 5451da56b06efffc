// JSON bodies: written for any text, and read strictly: what is missing or of the wrong type is a
// kProtocol error that names the field.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/json_fields.h"

namespace agentr {

// The object in `text`; `what` names the reply in messages ("/step reply"). Nested deeper than any
// reply is, it is an error too: what is done with values is recursive.
Result<nlohmann::json> ParseObject(std::string_view text, const std::string& what);

// `value` on one line. Text from a model may hold a cut UTF-8 sequence: the server shall see U+FFFD
// rather than the call fail.
std::string JsonText(const nlohmann::json& value);

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
