// Writes rows as JSON lines in the formats of row.h.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/chat_encoder.h"
#include "rows/row.h"

namespace agentr {

// Of two responses to one prompt the one to be preferred.
struct RowPreference {
  std::vector<Message> prompt;
  Message chosen;
  Message rejected;
};

// A row to be written.
struct NewRow {
  std::string family;
  int task_id = 0;
  std::vector<RowMessage> messages;
  std::shared_ptr<const nlohmann::ordered_json> provenance;  // with kProvenanceFields
  // What only Agent-R's format has: the good path and the bad one as the model saw them, and the
  // judgements of the bad one's steps.
  struct JudgedAction {
    std::string reasons;
    std::string action;
    std::string observation;
    std::string judgement;
  };
  std::vector<Message> high_log;
  std::vector<Message> low_log = {};  // empty for a good path alone
  std::string task_description;
  bool found = false;  // the first error
  std::vector<JudgedAction> feedback = {};
  std::optional<RowPreference> correction = {};  // what only the format preference has
};

// The end of the name of a file of preferences.
inline constexpr std::string_view kPreferenceSuffix = ".preference.jsonl";

struct RowFormat {
  // The end of the file's name after "<task>_<data_type>".
  std::string_view suffix;
  // The row as one line of JSON with a newline, or as several, or none. The same row gives the same
  // bytes.
  // Throws FatalError(kUsage) if the model's format cannot express the row's order of roles.
  std::function<std::string(const NewRow&)> Line;
};

// "agent-r", "messages", "sharegpt", "prompt_completion", "last_turn", "tokens", "preference",
// "provenance"; throws FatalError(kUsage) for others.
// `encoder` (may be null, outlives the format) is used by tokens.
std::unique_ptr<RowFormat> MakeRowFormat(std::string_view name,
                                         const ChatEncoder* encoder = nullptr);

// The formats of these names, each once, and provenance where there is agent-r, which needs it.
std::vector<std::unique_ptr<RowFormat>> MakeRowFormats(const std::vector<std::string>& names,
                                                       const ChatEncoder* encoder);

}  // namespace agentr
