#include "loop/loop_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// The last run in a program's run.json.
Json LastRun(const fs::path& folder) {
  const Json file = ReadJsonFile(folder / "run.json");
  const Json& runs = file.at("runs");
  if (!runs.is_array() || runs.empty()) throw std::invalid_argument("run.json has no runs");
  return runs.back();
}

std::string OptionOf(const LoopStage& stage, const std::string& flag) {
  const std::string begin = "--" + flag + "=";
  std::string value;
  for (const Secret& argument : stage.arguments) {
    const std::string& text = argument.Reveal();
    if (text.starts_with(begin)) value = text.substr(begin.size());
  }
  return value;
}

Json ReadUnchecked(const LoopStage& stage) {
  const std::string task = OptionOf(stage, "task");
  if (stage.program == "mcts_collect") {
    const Json run = LastRun(stage.folder / task / OptionOf(stage, "model_name"));
    const Json& result = run.at("result");
    return {{"trees", JsonField<int>(result, "finished") + JsonField<int>(result, "already_there")},
            {"failed", result.at("failed").size()}};
  }
  if (stage.program == "path_collect") {
    const Json run = ReadJsonFile(
        stage.folder / fmt::format("{}_{}.run.json", task, OptionOf(stage, "data_type")));
    return {{"rows", run.at("rows")}, {"audit", run.at("audit")}};
  }
  if (stage.program == "agent_train") {
    const Json run = LastRun(stage.folder / OptionOf(stage, "name"));
    return {{"steps", run.at("steps")}};
  }
  Json summary = ReadJsonFile(EvaluationFolder(stage) / "summary.json");
  summary.erase("options");
  return summary;
}

// Throws std::invalid_argument, or what nlohmann::json throws.
void CheckStage(const Json& stage) {
  JsonField<std::string>(stage, "stage");
  JsonField<std::string>(stage, "program");
  JsonField<std::vector<std::string>>(stage, "arguments");
  JsonField<double>(stage, "wall_s");
  if (!stage.at("result").is_object()) throw std::invalid_argument("a result is no object");
}

}  // namespace

Json ReadJsonFile(const fs::path& file) {
  const std::string text = ReadFile(file);
  Json json = ParseJson<Json>(text);
  if (json.is_discarded()) {
    throw FatalError(ExitCode::kFile, fmt::format("{} is not JSON ({}): move it away and run again",
                                                  file.string(), JsonFault(text)));
  }
  return json;
}

fs::path EvaluationFolder(const LoopStage& stage) {
  return stage.folder / OptionOf(stage, "task") / (OptionOf(stage, "model_name") + "_local");
}

Json ReadResult(const LoopStage& stage) {
  return ReadingRecord(
      fmt::format("the results of stage {} in {}", stage.name, stage.folder.string()),
      "remove the folder, and run again", [&] { return ReadUnchecked(stage); });
}

LoopRecord::LoopRecord(fs::path folder) : file_(std::move(folder) / "loop.json") {
  if (!fs::exists(file_)) return;
  const Json file = ReadJsonFile(file_);
  stages_ = ReadingRecord(file_.string(),
                          "choose another --name, or move the file away and run again", [&] {
                            Json stages = JsonField<Json::array_t>(file, "stages");
                            for (const Json& stage : stages) CheckStage(stage);
                            return stages;
                          });
  // Earlier versions wrote passwords into the record.
  for (Json& stage : stages_) {
    for (Json& argument : stage.at("arguments")) {
      argument = RedactSecrets(argument.get<std::string>());
    }
  }
}

const Json* LoopRecord::Find(const std::string& stage) const {
  for (const Json& entry : stages_) {
    if (entry["stage"] == stage) return &entry;
  }
  return nullptr;
}

bool LoopRecord::Has(const LoopStage& stage) const {
  const Json* entry = Find(stage.name);
  if (entry == nullptr) return false;
  // Another password is no other argument.
  const std::vector<std::string> arguments = Redacted(stage.arguments);
  const auto before = entry->at("arguments").get<std::vector<std::string>>();
  if (before == arguments) return true;
  std::string differ;
  for (const std::string& argument : arguments) {
    if (std::ranges::find(before, argument) == before.end()) differ += " " + argument;
  }
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("{}: stage {} is finished with other arguments{}. Give another "
                  "--name, or the options of before",
                  file_.string(), stage.name, differ.empty() ? "" : " (new are" + differ + ")"));
}

const Json& LoopRecord::ResultOf(const std::string& stage) const {
  static const Json kNothing;
  const Json* entry = Find(stage);
  return entry == nullptr ? kNothing : entry->at("result");
}

double LoopRecord::SecondsOf(const std::string& stage) const {
  const Json* entry = Find(stage);
  return entry == nullptr ? 0 : entry->at("wall_s").get<double>();
}

void LoopRecord::Add(const LoopStage& stage, double wall_s, Json result) {
  stages_.push_back({{"stage", stage.name},
                     {"program", stage.program},
                     {"arguments", Redacted(stage.arguments)},
                     {"wall_s", wall_s},
                     {"result", std::move(result)}});
  WriteFileAtomically(file_, Json{{"stages", stages_}}.dump(1) + "\n");
}

}  // namespace agentr
