// Converts conversations from and to lists of OpenAI's messages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/json_fields.h"

namespace agentr {

inline std::vector<Message> MessagesFromJson(const nlohmann::ordered_json& json) {
  std::vector<Message> messages;
  for (const auto& message : json) {
    messages.push_back({JsonField<std::string>(message, "role"),
                        JsonField<std::string>(message, "content"),
                        JsonFieldOr(message, "reasoning_content", std::string())});
  }
  return messages;
}

// One message; a thought of its own is "reasoning_content".
template <typename Json = nlohmann::ordered_json>
Json MessageToJson(const Message& message) {
  Json json = {{"role", message.role}, {"content", message.content}};
  if (!message.reasoning.empty()) json["reasoning_content"] = message.reasoning;
  return json;
}

inline nlohmann::ordered_json MessagesToJson(const std::vector<Message>& messages) {
  auto json = nlohmann::ordered_json::array();
  for (const Message& message : messages) {
    json.push_back(MessageToJson(message));
  }
  return json;
}

}  // namespace agentr
