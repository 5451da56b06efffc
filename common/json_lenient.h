// Lenient reading of JSON that a person may have edited or another program written: a faulty field
// counts as one that is left out. Our own records, which must be whole, are read by
// common/json_fields.h.
#pragma once

#include "common/json_fields.h"

namespace agentr {

// Field `name` of `json` if it is of type T, else `otherwise`; also where `json` is no object.
template <typename T, typename Json>
T FieldOr(const Json& json, const char* name, T otherwise) {
  if (!json.is_object() || !json.contains(name) || !IsJson<T>(json.at(name))) return otherwise;
  return json.at(name).template get<T>();
}

}  // namespace agentr
