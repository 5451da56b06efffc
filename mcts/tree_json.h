// What the two formats of tree files have in common.
#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "clients/language_model.h"

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

inline std::vector<Message> MessagesFromJson(const nlohmann::ordered_json& json) {
  std::vector<Message> messages;
  for (const auto& message : json) {
    messages.push_back(
        {JsonField<std::string>(message, "role"), JsonField<std::string>(message, "content")});
  }
  return messages;
}

inline nlohmann::ordered_json MessagesToJson(const std::vector<Message>& messages) {
  auto json = nlohmann::ordered_json::array();
  for (const Message& message : messages) {
    json.push_back({{"role", message.role}, {"content", message.content}});
  }
  return json;
}

}  // namespace agentr
