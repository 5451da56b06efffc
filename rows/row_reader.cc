#include "rows/row_reader.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"
#include "common/text.h"
#include "rows/provenance.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Refuse(const std::string& why) { throw FatalError(ExitCode::kFile, why); }

const Json& Member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) Refuse(fmt::format("\"{}\" is missing", name));
  return *found;
}

std::string Text(const Json& object, const char* name) {
  const Json& value = Member(object, name);
  if (!value.is_string()) Refuse(fmt::format("\"{}\" is not a string", name));
  return value.get<std::string>();
}

// A content is a string or, in OpenAI's newer form, a list of text parts.
std::string Content(const Json& message, const char* name) {
  const Json& content = Member(message, name);
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) {
    Refuse("\"content\" is not a text; tool calls must be written into the text of the message");
  }
  std::string text;
  for (const Json& part : content) {
    if (!part.is_object() || !part.contains("text")) {
      Refuse("\"content\" has a part that is not a text; only text can be trained");
    }
    text += Text(part, "text");
  }
  return text;
}

// "loss" and "weight" may be 0, 1, false or true; null counts as missing.
std::optional<bool> Flag(const Json& message, const char* name) {
  const auto found = message.find(name);
  if (found == message.end() || found->is_null()) return std::nullopt;
  if (found->is_boolean()) return found->get<bool>();
  if (found->is_number() && (*found == 0 || *found == 1)) return *found == 1;
  Refuse(fmt::format("\"{}\" is {}; it must be 0 or 1", name, found->dump()));
}

// By the name that OpenAI, Agent-R, axolotl or another trainer gives the mark.
std::optional<bool> Flag(const Json& message) {
  std::optional<bool> flag;
  const char* named = nullptr;
  for (const char* name : {"weight", "loss", "train", "training", "trainable", "loss_mask"}) {
    const std::optional<bool> value = Flag(message, name);
    if (flag && value && *value != *flag) {
      Refuse(fmt::format("a message has different values of \"{}\" and \"{}\"; remove one of them",
                         named, name));
    }
    if (!flag && value) std::tie(flag, named) = std::pair(value, name);
  }
  return flag;
}

bool IsSaid(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && !found->is_null() && !found->empty() && *found != "";
}

// Refuses what a message or a whole row says beside its texts and what the model would have seen or
// written too: a training without it is another one.
void RefuseUntrainable(const Json& object) {
  constexpr const char* kByWeight = "mark each message with \"weight\": 0 or 1";
  constexpr const char* kOnlyText = "only text can be trained";
  constexpr std::pair<const char*, const char*> kUntrainable[] = {
      {"tool_calls", "write the call into the text of the message"},
      {"function_call", "write the call into the text of the message"},
      {"tools", "describe the tools in the system message"},
      {"functions", "describe the functions in the system message"},
      {"documents", "write them into the text of a message"},
      {"chat_template_kwargs", "give them as --chat_kwargs"},
      {"images", kOnlyText},
      {"videos", kOnlyText},
      {"audios", kOnlyText},
      {"audio", kOnlyText},
      {"weights", kByWeight},
      {"mask", kByWeight},
      {"masked", kByWeight},
      {"loss_scale", kByWeight},
      {"train_on_turn", kByWeight},
      {"train_detail", kByWeight},
      {"training_detail", kByWeight},
  };
  for (const auto& [name, cure] : kUntrainable) {
    if (!IsSaid(object, name)) continue;
    Refuse(fmt::format("it has \"{}\", which would be left out of the training; {}", name, cure));
  }
}

// What a message may have beside that. A segment has ids.
constexpr const char* kReadKeys[] = {
    "trainable", "loss_mask", "role",  "from",     "content", "value",    "text",
    "weight",    "loss",      "train", "training", "ids",     "logprobs", "reasoning_content",
    "reasoning", "thinking"};

void NoteUnread(const Json& message, UnreadKeys& unread) {
  for (const auto& [key, value] : message.items()) {
    if (std::ranges::find(kReadKeys, key) != std::end(kReadKeys)) continue;
    if (IsSaid(message, key.c_str())) ++unread[key];
  }
}

// What an assistant message without a mark is. OpenAI trains messages without "weight", but a file
// with "loss" marks every trained message.
bool TrainedWithoutFlag(const Json& messages, DataFormat format) {
  if (format == DataFormat::kAgentR) return false;
  return std::ranges::none_of(messages, [](const Json& message) {
    return message.is_object() && message.contains("loss");
  });
}

std::string RoleOf(std::string name) {
  constexpr std::pair<std::string_view, const char*> kSame[] = {
      {"human", "user"},    {"user", "user"},       {"assistant", "assistant"},
      {"gpt", "assistant"}, {"bot", "assistant"},   {"chatbot", "assistant"},
      {"ai", "assistant"},  {"model", "assistant"}, {"developer", "system"},
      {"system", "system"}};
  for (const auto& [other, role] : kSame) {
    if (EqualIgnoringCase(name, other)) return role;
  }
  for (const char* const of_tools :
       {"function", "function_call", "observation", "tool_call", "tool_response", "tool_result"}) {
    if (name != of_tools) continue;
    Refuse(
        fmt::format("a message of \"{}\": no chat template here has that role; make the results of "
                    "tools messages of the user, and the calls texts of the assistant",
                    name));
  }
  return name;
}

// Rows of one format often have the names of the other in their messages.
std::string RoleOf(const Json& message, const FormatNames& names) {
  const bool shares = !message.contains(names.role) && message.contains("from");
  const bool opens = !message.contains(names.role) && message.contains("role");
  return RoleOf(Text(message, shares ? "from" : opens ? "role" : names.role));
}

// A segment has tokens instead, where they were sampled.
std::string TextOf(const Json& message, const FormatNames& names) {
  if (names.format == DataFormat::kSegments && !message.contains(names.text)) return "";
  const bool named = message.contains(names.text);
  const char* const text = named                         ? names.text
                           : message.contains("value")   ? "value"
                           : message.contains("content") ? "content"
                                                         : names.text;
  return Content(message, text);
}

// The messages of prompt and completion in one list, each with its mark.
Json JoinedTurns(const Json& json) {
  Json all = Json::array();
  for (const char* name : {"prompt", "completion"}) {
    const Json& messages = Member(json, name);
    if (!messages.is_array()) {
      Refuse(
          fmt::format("\"{}\" is a text, not a list of messages; make one of it: [{{\"role\": "
                      "\"user\", \"content\": …}}], with the role assistant for the completion",
                      name));
    }
    for (const Json& message : messages) {
      all.push_back(message);
      if (message.is_object() && Flag(message).value_or(true)) {
        all.back()["loss"] = name == std::string_view("completion");
      }
    }
  }
  return all;
}

// The thought of an assistant's message, by the name that vLLM, OpenRouter or gpt-oss gives it.
std::string ThoughtOf(const Json& message, const std::string& role) {
  for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
    if (!IsSaid(message, name)) continue;
    if (message[name].is_string() && role == "assistant") return message[name].get<std::string>();
    Refuse(
        fmt::format("\"{}\" is not the text of an assistant's thought; write it into the text of "
                    "the message, between <think> and </think>",
                    name));
  }
  return "";
}

void ReadMessages(const Json& messages, const FormatNames& names, Row& row) {
  if (messages.is_string()) Refuse("the messages are one text; they have to be a list of objects");
  if (!messages.is_array()) Refuse("the list of messages is empty");
  const bool otherwise = TrainedWithoutFlag(messages, row.format);
  const bool given = !row.messages.empty();  // the row's own text of the system
  for (const Json& message : messages) {
    if (!message.is_object()) Refuse("a message is not an object");
    RefuseUntrainable(message);
    NoteUnread(message, row.unread);
    std::string role = RoleOf(message, names);
    if (role == "system" && given && row.messages.size() == 1) {
      Refuse("it has two texts of the system; join them");
    }
    row.trained.push_back(role == "assistant" && Flag(message).value_or(otherwise));
    std::string thought = ThoughtOf(message, role);
    row.messages.push_back({std::move(role), TextOf(message, names), std::move(thought)});
  }
}

std::vector<int32_t> Ids(const Json& json) {
  if (!json.is_array()) Refuse("\"ids\" is not a list");
  std::vector<int32_t> ids;
  ids.reserve(json.size());
  for (const Json& id : json) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > std::numeric_limits<int32_t>::max()) {
      Refuse(fmt::format("\"ids\" contains {}, which is not a token id", id.dump()));
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

bool TokenFlag(const Json& flag) {
  if (flag.is_boolean()) return flag.get<bool>();
  if (!flag.is_number() || (flag != 0 && flag != 1)) {
    Refuse(fmt::format("\"loss\" contains {}; it must be 0 or 1 for each token", flag.dump()));
  }
  return flag == 1;
}

// Where the row tells the tokens of its revision turn.
std::optional<std::pair<size_t, size_t>> RevisionOf(const Json& json) {
  const auto found = json.find("revision");
  if (found == json.end() || !found->is_array()) return std::nullopt;
  const bool is_span = found->size() == 2 && (*found)[0].is_number_unsigned() &&
                       (*found)[1].is_number_unsigned() && (*found)[0] < (*found)[1];
  if (!is_span) {
    Refuse(
        fmt::format("\"revision\" is {}; it has to be the first token of the revision turn and "
                    "the one behind its last",
                    found->dump()));
  }
  return std::pair{(*found)[0].get<size_t>(), (*found)[1].get<size_t>()};
}

void ReadTokens(const Json& json, Row& row) {
  row.ids = Ids(json.at("ids"));
  const Json& loss = Member(json, "loss");
  if (!loss.is_array() || loss.size() != row.ids.size()) {
    Refuse(fmt::format("{} ids and {} values of \"loss\"; each token needs one of both",
                       row.ids.size(), loss.size()));
  }
  if (const auto hash = json.find("tokenizer"); hash != json.end() && hash->is_string()) {
    row.tokenizer = hash->get<std::string>();
  }
  row.revision = RevisionOf(json);
  for (const Json& flag : loss) row.trained.push_back(!row.trained.empty() && TokenFlag(flag));
}

const FormatNames& FormatOf(const Json& json) {
  if (!json.is_object()) Refuse("the line is not a JSON object");
  for (const FormatNames& names : kFormats) {
    if (json.contains(names.list)) return names;
  }
  if (json.contains("chosen") && json.contains("rejected")) {
    Refuse("a preference, not a row; learn from it with agent_rl --algorithm dpo --pairs FILE");
  }
  if (json.contains("tree") && json.contains("nodes")) {
    Refuse("the provenance of a row, not the row; name the file of rows beside it");
  }
  Refuse(
      "none of the formats of rows: a row has \"messages\" (OpenAI), \"conversations\" (ShareGPT), "
      "\"prompt\" and \"completion\" (TRL), \"revise_log\" (Agent-R) or \"ids\" and \"loss\" "
      "(tokens)");
}

Json Parse(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  if (first != std::string_view::npos && line[first] == '[') {
    Refuse("a list, where a row per line is needed; make one: jq -c '.[]' FILE > FILE.jsonl");
  }
  try {
    return ParseJsonOrThrow<Json>(line);
  } catch (const Json::parse_error& error) {
    Refuse(fmt::format("not a JSON value at column {}: {}", error.byte, JsonFault(line)));
  } catch (const Json::out_of_range&) {
    Refuse("a number is beyond the range of double");
  }
}

void ReadProvenance(Json provenance, Row& row) {
  if (!provenance.is_object()) return;
  const auto prefix = provenance.find("train_prefix");
  if (prefix != provenance.end() && prefix->is_boolean()) row.train_prefix = prefix->get<bool>();
  if (row.format != DataFormat::kAgentR) row.bad_path = BadPathOf(provenance);
  row.provenance = std::make_shared<const Json>(std::move(provenance));
}

// The task as the provenance names it, else as the format does.
std::string TaskOf(const Json& json, const Row& row) {
  const auto named = [](const Json& object, const char* name) -> std::string {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return "";
    return found->is_string() ? found->get<std::string>() : found->dump();
  };
  std::string task = row.provenance ? named(*row.provenance, "task") : "";
  if (task.empty()) task = named(json, "task_num");
  return task.empty() ? named(json, "item_id") : task;
}

Row RowOf(Json json) {
  const FormatNames& names = FormatOf(json);
  Row row;
  row.format = names.format;
  if (names.format == DataFormat::kTokens) {
    ReadTokens(json, row);
  } else {
    RefuseUntrainable(json);
    if (IsSaid(json, "loss_mask")) {
      Refuse("it has \"loss_mask\" beside the messages; mark each message with \"weight\": 0 or 1");
    }
    if (IsSaid(json, "system")) {
      row.messages.push_back({"system", Text(json, "system")});
      row.trained.push_back(false);
    }
    const bool joined = names.format == DataFormat::kPromptCompletion;
    ReadMessages(joined ? JoinedTurns(json) : json.at(names.list), names, row);
  }
  if (const auto found = json.find("provenance"); found != json.end()) {
    ReadProvenance(std::move(*found), row);
  }
  const auto low = json.find("low_log");
  if (names.format == DataFormat::kAgentR && low != json.end() && low->is_array()) {
    row.bad_path = low->empty() ? BadPath::kNone : BadPath::kNamed;
  }
  row.task = TaskOf(json, row);
  return row;
}

}  // namespace

Row ReadRow(std::string_view line) { return RowOf(Parse(line)); }

std::string UnreadWarning(std::string_view file, const UnreadKeys& keys) {
  constexpr size_t kNamed = 5;
  std::string text;
  size_t named = 0;
  for (const auto& [key, messages] : keys) {
    if (named++ == kNamed) {
      return text + fmt::format("; {} other keys are not read either", keys.size() - kNamed);
    }
    text += fmt::format("{} {} message{} {}, which is not read",
                        text.empty() ? std::string(file) + ":" : ";", messages,
                        messages == 1 ? " has" : "s have", DumpJson(Json(key)));
  }
  return text;
}

std::vector<Row> ReadRowFile(const std::filesystem::path& path) {
  const std::string text = ReadFile(path);
  std::vector<Row> rows;
  UnreadKeys unread;
  int64_t number = 0;
  const auto add = [&](Row row) {
    if (row.format == DataFormat::kTokens) {
      Refuse("a row of token ids: it has none of messages, conversations, revise_log and segments");
    }
    for (const auto& [key, messages] : row.unread) unread[key] += messages;
    rows.push_back(std::move(row));
  };
  try {
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '[') {
      for (Json& json : ParseJsonOrThrow<Json>(text)) {
        ++number;
        add(RowOf(std::move(json)));
      }
    } else {
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        ++number;
        if (!line.empty()) add(ReadRow(line));
      }
    }
  } catch (const Json::exception& error) {
    throw FatalError(ExitCode::kFile, fmt::format("{}, row {}: not JSON of a row: {}",
                                                  path.string(), number, PlainFault(error)));
  } catch (const FatalError& error) {
    throw FatalError(error.code(),
                     fmt::format("{}, row {}: {}", path.string(), number, error.what()));
  }
  if (!unread.empty()) spdlog::warn("{}", UnreadWarning(path.string(), unread));
  return rows;
}

void ReadProvenanceBeside(const std::filesystem::path& path, std::vector<Row>& rows) {
  std::ifstream lines(path);
  size_t next = 0;
  for (std::string line; next < rows.size() && std::getline(lines, line);) {
    Json json = ParseJson<Json>(line);
    if (json.is_object()) rows[next++].provenance = std::make_shared<const Json>(std::move(json));
  }
}

}  // namespace agentr
