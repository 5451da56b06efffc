#include "training/loop/loop_record.h"

#include <fmt/core.h>

#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// The last run in a program's run.json.
Json LastRun(const fs::path& folder) {
  const Json file = ReadJsonFile(folder / "run.json");
  return file.at("runs").back();
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
    return {{"trees", result.at("finished").get<int>() + result.at("already_there").get<int>()},
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

}  // namespace

Json ReadJsonFile(const fs::path& file) {
  const nlohmann::json json = ParseJson(ReadFile(file));
  if (json.is_discarded()) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{} is not JSON: move it away and run again", file.string()));
  }
  return json;
}

fs::path EvaluationFolder(const LoopStage& stage) {
  return stage.folder / OptionOf(stage, "task") / (OptionOf(stage, "model_name") + "_local");
}

Json ReadResult(const LoopStage& stage) {
  try {
    return ReadUnchecked(stage);
  } catch (const nlohmann::json::exception& error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("the results of stage {} in {} lack a field ({}): remove the "
                                 "folder, and run again",
                                 stage.name, stage.folder.string(), error.what()));
  }
}

LoopRecord::LoopRecord(fs::path folder) : file_(std::move(folder) / "loop.json") {
  if (!fs::exists(file_)) return;
  Json file = ReadJsonFile(file_);
  if (!file.contains("stages") || !file["stages"].is_array()) {
    throw FatalError(ExitCode::kFile, fmt::format("{} has no list of stages: it is no record of "
                                                  "self_train; choose another --name",
                                                  file_.string()));
  }
  stages_ = std::move(file["stages"]);
  // Earlier versions wrote passwords into the record.
  for (Json& stage : stages_) {
    if (!stage.is_object() || !stage.contains("arguments")) continue;
    for (Json& argument : stage["arguments"]) {
      if (argument.is_string()) argument = RedactSecrets(argument.get<std::string>());
    }
  }
}

const Json* LoopRecord::Find(const std::string& stage) const {
  for (const Json& entry : stages_) {
    if (entry.value("stage", "") == stage) return &entry;
  }
  return nullptr;
}

bool LoopRecord::Has(const LoopStage& stage) const {
  const Json* entry = Find(stage.name);
  if (entry == nullptr) return false;
  // Another password is no other argument.
  const std::vector<std::string> arguments = Redacted(stage.arguments);
  if (entry->value("arguments", Json()) == Json(arguments)) return true;
  std::string differ;
  for (const std::string& argument : arguments) {
    bool there = false;
    for (const Json& before : entry->value("arguments", Json::array())) {
      there = there || before == argument;
    }
    if (!there) differ += " " + argument;
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
  return entry == nullptr ? 0 : entry->value("wall_s", 0.0);
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
