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
