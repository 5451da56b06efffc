#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"
#include "rows/audit.h"

namespace agentr {
namespace {

using FileJson = nlohmann::json;

std::string TextOf(const FileJson& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : value.dump();
}

// True if a message is trained. Without a mark, trainers train every turn of an assistant.
bool TrainedIn(const FileJson& message) {
  const auto loss = message.find("loss");
  if (loss != message.end() && !loss->is_null()) return *loss == true || *loss == 1;
  const auto weight = message.find("weight");
  return weight == message.end() || weight->is_null() || *weight == 1;
}

AuditRow::Line LineOfMessage(const FileJson& message) {
  const bool sharegpt = message.contains("from");
  std::string role = TextOf(message.at(sharegpt ? "from" : "role"));
  if (role == "gpt") role = "assistant";
  if (role == "human") role = "user";
  const char* content = sharegpt ? "value" : message.contains("text") ? "text" : "content";
  const bool trained = role == "assistant" && TrainedIn(message);
  return {std::move(role), message.contains(content) ? TextOf(message.at(content)) : "", trained};
}

void AddProvenance(const FileJson& provenance, AuditRow& row) {
  row.task = provenance.contains("task") ? TextOf(provenance.at("task")) : "";
  for (const char* name : {"mistake", "replay", "recovery", "verifier"}) {
    if (provenance.contains(name)) row.labels[name] = TextOf(provenance.at(name));
  }
  row.bad_steps = provenance.value("bad_steps", -1);
  if (!provenance.contains("revision_length") || provenance.at("revision_length").is_null()) return;
  row.revision_from_start = provenance.at("revision_length").value("from_start", -1);
  row.revision_from_ancestor = provenance.at("revision_length").value("from_ancestor", -1);
}

AuditRow RowOfJson(const FileJson& json) {
  AuditRow row;
  static constexpr std::array<const char*, 4> kNames = {"revise_log", "messages", "conversations",
                                                        "segments"};
  const auto name = std::ranges::find_if(kNames, [&](const char* n) { return json.contains(n); });
  if (name == kNames.end()) {
    throw FatalError(ExitCode::kFile,
                     "not a row: it has none of revise_log, messages, conversations and segments");
  }
  for (const FileJson& message : json.at(*name)) row.messages.push_back(LineOfMessage(message));
  if (json.contains("provenance")) AddProvenance(json.at("provenance"), row);
  for (const char* id : {"task_num", "item_id"}) {
    if (row.task.empty() && json.contains(id)) row.task = TextOf(json.at(id));
  }
  return row;
}

}  // namespace

std::vector<AuditRow> ReadAuditRows(const std::filesystem::path& path) {
  const std::string text = ReadFile(path);
  std::vector<AuditRow> rows;
  int64_t line_number = 0;
  try {
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '[') {
      for (const FileJson& json : ParseJsonOrThrow<FileJson>(text)) {
        ++line_number;
        rows.push_back(RowOfJson(json));
      }
      return rows;
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++line_number;
      if (!line.empty()) rows.push_back(RowOfJson(ParseJsonOrThrow<FileJson>(line)));
    }
  } catch (const FileJson::exception& error) {
    throw FatalError(ExitCode::kFile, fmt::format("{}, row {}: not JSON of a row: {}",
                                                  path.string(), line_number, PlainFault(error)));
  } catch (const FatalError& error) {
    throw FatalError(error.code(),
                     fmt::format("{}, row {}: {}", path.string(), line_number, error.what()));
  }
  return rows;
}

std::string FamilyOfRows(const std::filesystem::path& path, const std::vector<AuditRow>& rows) {
  static constexpr std::array<const char*, 8> kFamilies = {
      "webshop_archer", "webshop",  "textcraft", "twenty_questions",
      "guess_my_city",  "sciworld", "babyai",    "detective"};
  const std::string name = path.filename().string();
  const auto named = std::ranges::find_if(
      kFamilies, [&](const char* family) { return name.find(family) != std::string::npos; });
  if (named != kFamilies.end()) return *named;
  const auto of_rows = std::ranges::find_if(kFamilies, [&](const char* family) {
    return !rows.empty() && rows.front().task.starts_with(family);
  });
  if (of_rows != kFamilies.end()) return *of_rows;
  return "";
}

ExitCode AuditFile(const std::string& path, std::string task) {
  const std::vector<AuditRow> rows = ReadAuditRows(path);
  if (task.empty()) task = FamilyOfRows(path, rows);
  if (task.empty()) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("{}: neither its name nor its rows show the kind of task: give it with --task",
                    path));
  }
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(task);
  Audit audit(*family);
  for (const AuditRow& row : rows) audit.Add(row);
  fmt::print("{}{}\n", audit.Table(), audit.Json().dump(1));
  return ExitCode::kOk;
}

}  // namespace agentr
