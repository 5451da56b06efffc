// Fields of JSON files of ours, read strictly.
#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace agentr {

// Field `name` of `object`. Throws std::invalid_argument that names it.
template <typename T>
T JsonField(const nlohmann::ordered_json& object, const char* name) {
  try {
    return object.at(name).get<T>();
  } catch (const nlohmann::ordered_json::exception& error) {
    throw std::invalid_argument(fmt::format("field \"{}\": {}", name, error.what()));
  }
}

// The same, with a value for a field that is left out.
template <typename T>
T JsonFieldOr(const nlohmann::ordered_json& object, const char* name, T absent) {
  return object.contains(name) ? JsonField<T>(object, name) : absent;
}

}  // namespace agentr
