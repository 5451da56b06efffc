// A row of demonstrations: a "messages" row (rows/row.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

using DemoRow = nlohmann::ordered_json;

// Rows with the same `task` begin alike, or are about the same thing. `trained`: per message,
// whether it is; only the assistant's can be.
inline DemoRow MakeDemoRow(const std::string& task, const std::vector<Message>& messages,
                           const std::vector<char>& trained) {
  DemoRow row = {{"task", task}, {"messages", DemoRow::array()}};
  for (size_t i = 0; i < messages.size(); ++i) {
    DemoRow message = {{"role", messages[i].role}, {"content", messages[i].content}};
    if (messages[i].role == "assistant") message["weight"] = trained[i] != 0 ? 1 : 0;
    row["messages"].push_back(std::move(message));
  }
  return row;
}

}  // namespace agentr
