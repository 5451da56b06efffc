#include <fmt/core.h>

#include <utility>

#include "common/error.h"
#include "report/report_parts.h"
#include "rows/row_reader.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

enum RowPart {
  kInstruction,
  kFirst,
  kPrefixPart,
  kBadPart,
  kRevisionPart,
  kRecoveryPart,
  kGoodPart
};

// The rows in the first of the text formats that the run wrote.
fs::path RowFile(const std::string& stem) {
  for (const FormatNames& names : kFormats) {
    const fs::path file = stem + std::string(names.suffix);
    if (fs::exists(file)) return file;
  }
  return {};
}

// The rows of lines. The formats of single turns have a line for each trained turn of a row, with
// the messages before it.
std::vector<Row> JoinTurns(std::vector<Row> lines) {
  const auto hash = [](const Row& row) {
    return row.provenance ? FieldOr<std::string>(*row.provenance, "hash", "") : "";
  };
  std::vector<Row> rows;
  for (Row& line : lines) {
    const bool goes_on = !rows.empty() && !hash(line).empty() && hash(line) == hash(rows.back()) &&
                         line.messages.size() > rows.back().messages.size();
    if (!goes_on) {
      rows.push_back(std::move(line));
      continue;
    }
    const std::vector<bool>& before = rows.back().trained;
    for (size_t i = 0; i < before.size(); ++i) line.trained[i] = line.trained[i] || before[i];
    rows.back() = std::move(line);
  }
  return rows;
}

// The number of messages before the first observation.
size_t InstructionOf(const std::string& family) {
  try {
    return MakeTaskFamily(family)->Instruction().size();
  } catch (const FatalError&) {
    return 2;  // the instruction and "Ok.", as in Agent-R's files
  }
}

// The part of each of the agent's `turns` turns: the trained ones begin with the turn that notices
// the mistake, before which are the bad steps and after which are the recovery actions.
std::vector<int> PartsOf(const std::vector<bool>& trained, const Json& provenance) {
  const int bad = FieldOr(provenance, "bad_steps", 0);
  const int recovery = FieldOr(provenance, "recovery", 0);
  const auto turns = static_cast<int>(trained.size());
  std::vector<int> parts(trained.size(), kGoodPart);
  if (bad <= 0) return parts;
  // The revision turn: with a trained prefix the first trained turn after an untrained one.
  int notice = 0;
  while (notice < turns && trained[static_cast<size_t>(notice)]) ++notice;
  while (notice < turns && !trained[static_cast<size_t>(notice)]) ++notice;
  for (int i = 0; i < turns; ++i) {
    int& part = parts[static_cast<size_t>(i)];
    if (i < notice - bad) part = kPrefixPart;
    if (i >= notice - bad && i < notice) part = kBadPart;
    if (i == notice) part = kRevisionPart;
    if (i > notice && i <= notice + recovery) part = kRecoveryPart;
  }
  return parts;
}

Json MessagesOf(const Row& row, const Json& provenance, size_t instruction) {
  std::vector<bool> trained;
  for (size_t i = instruction; i < row.messages.size(); ++i) {
    if (row.messages[i].role == "assistant") trained.push_back(row.trained[i]);
  }
  const std::vector<int> parts = PartsOf(trained, provenance);
  Json list = Json::array();
  int turn = -1;
  for (size_t i = 0; i < row.messages.size(); ++i) {
    const Message& line = row.messages[i];
    if (i >= instruction && line.role == "assistant") ++turn;
    const int part = i < instruction ? kInstruction
                     : turn < 0      ? kFirst
                                     : parts[static_cast<size_t>(turn)];
    list.push_back({line.role, WithThought(line), row.trained[i] ? 1 : 0, part});
  }
  return list;
}

int NodeOf(const Json& provenance, const char* name) {
  return provenance.contains("nodes") ? FieldOr(provenance["nodes"], name, -1) : -1;
}

Json Line(const Row& row, const Json& provenance, PackedItems::Place place, size_t number) {
  const auto inner = [&](const char* name) {
    return provenance.contains(name) ? provenance[name] : Json::object();
  };
  const Json rewards = inner("rewards");
  return {row.task,
          FieldOr<std::string>(provenance, "mistake", ""),
          FieldOr(provenance, "bad_steps", -1),
          place.block,
          place.at,
          NodeOf(provenance, "good"),
          NodeOf(provenance, "bad"),
          NodeOf(provenance, "ancestor"),
          NodeOf(provenance, "first_error"),
          number,
          FieldOr<std::string>(provenance, "replay", ""),
          FieldOr(inner("revision_length"), "from_start", -1),
          rewards.contains("replay") ? rewards["replay"] : Json()};
}

}  // namespace

Json RowsPart(const RunResult& result, const ReportLimits& limits, PackedItems& items) {
  const std::string stem = result.path.string();
  Json part = CommonPart(result, stem + ".run.json", stem + ".toml", items);
  const Json run = JsonOrNull(stem + ".run.json");
  const std::string name = result.path.filename().string();
  part["family"] = name.substr(0, name.rfind('_'));
  part["trees"] = FieldOr<std::string>(run, "trees", "");
  part["counts"] = run.is_object() && run.contains("counts") ? run["counts"] : Json::object();
  part["audit"] = run.is_object() && run.contains("audit") ? run["audit"] : Json();
  part["verified"] = run.is_object() && run.contains("verified") ? run["verified"] : Json();
  part["model"] = fs::path(part["trees"].get<std::string>()).filename().string();
  part["data"] = "";
  part["rows"] = Json::array();
  part["total"] = 0;
  try {
    const fs::path file = RowFile(stem);
    if (file.empty()) throw FatalError(ExitCode::kFile, "the files of rows are gone");
    std::vector<Row> rows = ReadRowFile(file);
    ReadProvenanceBeside(stem + ".provenance.jsonl", rows);
    rows = JoinTurns(std::move(rows));
    const size_t instruction = InstructionOf(part["family"]);
    part["total"] = rows.size();
    for (const size_t i : Spread(rows.size(), limits.rows)) {
      const Json provenance = rows[i].provenance ? *rows[i].provenance : Json::object();
      if (part["data"] == "") part["data"] = FieldOr<std::string>(provenance, "data_hash", "");
      const Json item = {{"messages", MessagesOf(rows[i], provenance, instruction)},
                         {"provenance", provenance}};
      part["rows"].push_back(Line(rows[i], provenance, items.Add(item), i + 1));
    }
  } catch (const FatalError& error) {
    part["problems"].push_back(error.what());
  }
  items.EndBlock();
  return part;
}

}  // namespace agentr
