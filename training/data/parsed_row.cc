#include "training/data/parsed_row.h"

#include <fmt/core.h>
#include <string.h>  // memmem

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/json_depth.h"
#include "rows/provenance.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Refuse(const std::string& why) { throw FatalError(ExitCode::kFile, why); }

// The provenance of a row of path_collect.
enum class Provenance { kUnknown, kGood, kRevision };

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
std::string Content(const Json& message) {
  const Json& content = Member(message, "content");
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

std::optional<bool> Flag(const Json& message) {
  const std::optional<bool> weight = Flag(message, "weight");
  const std::optional<bool> loss = Flag(message, "loss");
  if (weight && loss && *weight != *loss) {
    Refuse("a message has different values of \"weight\" and \"loss\"; remove one of them");
  }
  return weight ? weight : loss;
}

// OpenAI trains messages without "weight", but a file with "loss" marks every trained message.
bool TrainedWithoutFlag(const Json& messages, DataFormat format) {
  if (format == DataFormat::kAgentR) return false;
  return std::ranges::none_of(messages, [](const Json& message) {
    return message.is_object() && message.contains("loss");
  });
}

std::string RoleOf(std::string from) {
  if (from == "human") return "user";
  if (from == "gpt") return "assistant";
  return from;
}

void ReadMessages(const Json& messages, ParsedRow& row) {
  if (!messages.is_array() || messages.empty()) Refuse("the list of messages is empty");
  const bool share_gpt = row.format == DataFormat::kShareGpt;
  const bool otherwise = TrainedWithoutFlag(messages, row.format);
  for (const Json& message : messages) {
    if (!message.is_object()) Refuse("a message is not an object");
    std::string role = share_gpt ? RoleOf(Text(message, "from")) : Text(message, "role");
    const bool trained = role == "assistant" && Flag(message).value_or(otherwise);
    row.messages.push_back(
        {std::move(role), share_gpt ? Text(message, "value") : Content(message)});
    row.learned.push_back({trained});
  }
}

Provenance ProvenanceOf(const Json& json, DataFormat format) {
  if (format == DataFormat::kAgentR) {
    const auto low = json.find("low_log");
    if (low == json.end() || !low->is_array()) return Provenance::kUnknown;
    return low->empty() ? Provenance::kGood : Provenance::kRevision;
  }
  const auto provenance = json.find("provenance");
  if (provenance == json.end() || !provenance->is_object()) return Provenance::kUnknown;
  const auto nodes = provenance->find("nodes");
  if (nodes == provenance->end() || !nodes->is_object()) return Provenance::kUnknown;
  const auto bad = nodes->find("bad");
  if (bad == nodes->end()) return Provenance::kUnknown;
  return bad->is_null() ? Provenance::kGood : Provenance::kRevision;
}

// True if the steps before the mistake are also trained: the provenance says so, or even the
// assistant's first message, which need not be learned, is trained.
bool TrainsPrefix(const Json& json, const ParsedRow& row) {
  if (const auto provenance = json.find("provenance");
      provenance != json.end() && provenance->is_object()) {
    const auto flag = provenance->find("train_prefix");
    if (flag != provenance->end() && flag->is_boolean()) return flag->get<bool>();
  }
  for (size_t i = 0; i < row.messages.size(); ++i) {
    if (row.messages[i].role == "assistant") return row.learned[i].trained;
  }
  return false;
}

void NameKinds(const Json& json, Provenance provenance, ParsedRow& row) {
  if (provenance == Provenance::kUnknown) return;
  size_t begin = 0;
  if (provenance == Provenance::kRevision && TrainsPrefix(json, row)) {
    for (size_t i = 0; i < row.messages.size(); ++i) {
      if (row.messages[i].role == "assistant" && !row.learned[i].trained) begin = i + 1;
    }
  }
  TargetKind kind = provenance == Provenance::kGood ? TargetKind::kGood : TargetKind::kRevision;
  for (size_t i = begin; i < row.messages.size(); ++i) {
    if (!row.learned[i].trained) continue;
    row.learned[i].kind = kind;
    if (provenance == Provenance::kRevision) kind = TargetKind::kCorrected;
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

void ReadTokens(const Json& json, Provenance provenance, ParsedRow& row) {
  row.tokens.ids = Ids(Member(json, "ids"));
  const Json& loss = Member(json, "loss");
  if (!loss.is_array() || loss.size() != row.tokens.ids.size()) {
    Refuse(fmt::format("{} ids and {} values of \"loss\"; each token needs one of both",
                       row.tokens.ids.size(), loss.size()));
  }
  if (const auto hash = json.find("tokenizer"); hash != json.end() && hash->is_string()) {
    row.tokenizer = hash->get<std::string>();
  }
  const std::optional<std::pair<size_t, size_t>> revision = RevisionOf(json);
  TargetKind kind = provenance == Provenance::kGood                    ? TargetKind::kGood
                    : provenance == Provenance::kRevision && !revision ? TargetKind::kRevision
                                                                       : TargetKind::kOther;
  bool before = false;
  for (size_t i = 0; i < loss.size(); ++i) {
    const bool trained = i > 0 && TokenFlag(loss[i]);  // nothing predicts the first token
    const auto at = static_cast<int32_t>(i);
    if (revision && i >= revision->first) {
      kind = i < revision->second ? TargetKind::kRevision : TargetKind::kCorrected;
    }
    std::vector<TrainedSpan>& runs = row.tokens.trained;
    if (trained && (!before || runs.back().kind != kind)) runs.push_back({at, at, kind});
    if (trained) runs.back().end = at + 1;
    if (before && !trained && provenance == Provenance::kRevision && !revision) {
      kind = TargetKind::kCorrected;
    }
    before = trained;
  }
}

DataFormat FormatOf(const Json& json) {
  if (!json.is_object()) Refuse("the line is not a JSON object");
  if (json.contains("messages")) return DataFormat::kMessages;
  if (json.contains("conversations")) return DataFormat::kShareGpt;
  if (json.contains("revise_log")) return DataFormat::kAgentR;
  if (json.contains("ids")) return DataFormat::kTokens;
  if (json.contains("segments")) {
    Refuse(
        "a row in pieces of text and tokens, whose chat template is not known; write rows for this "
        "model: path_collect --format tokens --model_dir DIR, or --format messages");
  }
  if (json.contains("tree") && json.contains("nodes")) {
    Refuse("the provenance of a row, not the row; name the file of rows beside it");
  }
  Refuse(
      "none of the formats of rows: a row has \"messages\" (OpenAI), \"conversations\" (ShareGPT), "
      "\"revise_log\" (Agent-R) or \"ids\" and \"loss\" (tokens)");
}

Json Parse(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  if (first != std::string_view::npos && line[first] == '[') {
    Refuse("a list, where a row per line is needed; make one: jq -c '.[]' FILE > FILE.jsonl");
  }
  try {
    return ParseJsonOrThrow<Json>(line);
  } catch (const Json::parse_error& error) {
    Refuse(fmt::format("not a JSON value at column {}; a line may be cut off, write the file again",
                       error.byte));
  } catch (const Json::out_of_range&) {
    Refuse("a number is beyond the range of double");
  }
}

// The position of the last `key`, with the C library's search, which is much faster than rfind.
size_t LastPlace(std::string_view text, std::string_view key) {
  size_t last = std::string_view::npos;
  for (size_t from = 0; from < text.size();) {
    const void* found = ::memmem(text.data() + from, text.size() - from, key.data(), key.size());
    if (found == nullptr) break;
    last = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    from = last + 1;
  }
  return last;
}

// The value after the last `key` in `text`: a string without its quotes, or the text up to the next
// delimiter.
std::string_view ValueOf(std::string_view text, std::string_view key) {
  const size_t found = LastPlace(text, key);
  if (found == std::string_view::npos) return {};
  std::string_view rest = text.substr(found + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with('"')) {
    const size_t end = rest.find('"', 1);
    return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
  }
  return rest.substr(0, std::min(rest.find_first_of(",} \t\r"), rest.size()));
}

}  // namespace

ParsedRow ParseRow(std::string_view line) {
  const Json json = Parse(line);
  ParsedRow row;
  row.format = FormatOf(json);
  if (const auto provenance = json.find("provenance"); provenance != json.end()) {
    RefuseOldRow(*provenance);
  }
  const Provenance provenance = ProvenanceOf(json, row.format);
  if (row.format == DataFormat::kTokens) {
    ReadTokens(json, provenance, row);
    if (row.tokens.trained.empty()) {
      Refuse(
          "nothing to learn: \"loss\" is 0 for every token that another one stands before; drop "
          "the row, or write it again with path_collect");
    }
    return row;
  }
  ReadMessages(Member(json, row.format == DataFormat::kMessages   ? "messages"
                            : row.format == DataFormat::kShareGpt ? "conversations"
                                                                  : "revise_log"),
               row);
  NameKinds(json, provenance, row);
  if (std::ranges::none_of(row.learned, &ParsedRow::Trained::trained)) {
    Refuse(
        "nothing to learn: no assistant message has \"weight\": 1 or \"loss\": true; drop the row "
        "or mark what is to be learned");
  }
  return row;
}

std::string_view TaskKey(std::string_view line) {
  // Quotes inside texts are escaped, so a key with its quotes is really a key.
  constexpr size_t kHead = 512, kTail = 16384;
  const std::string_view head = line.substr(0, kHead);
  const std::string_view tail = line.substr(line.size() - std::min(line.size(), kTail));
  // Searches the short beginning first, because Agent-R's rows have their number there.
  constexpr std::string_view kTask = "\"task\":", kNumber = "\"task_num\":", kItem = "\"item_id\":";
  const std::pair<std::string_view, std::string_view> places[] = {
      {head, kTask}, {head, kNumber}, {tail, kTask}, {tail, kNumber}, {tail, kItem}, {head, kItem}};
  for (const auto& [text, key] : places) {
    if (const std::string_view value = ValueOf(text, key); !value.empty()) return value;
  }
  return {};
}

}  // namespace agentr
