#include "loop/loop_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"
#include "common/options.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

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

LoopRecord::LoopRecord(fs::path folder) : file_(std::move(folder) / "loop.json") {
  if (!fs::exists(file_)) return;
  const Json file = ReadJsonFile(file_);
  stages_ = ReadingRecord(file_.string(),
                          "choose another --name, or move the file away and run again", [&] {
                            Json stages = JsonField<Json::array_t>(file, "stages");
                            for (const Json& stage : stages) CheckStage(stage);
                            return stages;
                          });
  if (file.contains("model_options")) model_options_ = file.at("model_options");
  // Earlier versions wrote passwords into the record.
  for (Json& stage : stages_) {
    for (Json& argument : stage.at("arguments")) {
      argument = RedactSecrets(argument.get<std::string>());
    }
  }
}

void LoopRecord::SetModelOptions(Json options) {
  const std::string differences = OptionDifferences(model_options_, options);
  if (!differences.empty()) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("{}: its stages had other models: {}. Cure: the options of before "
                                 "(resolved.toml in the same folder), or another --name",
                                 file_.string(), differences));
  }
  model_options_ = std::move(options);
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
  Json record = Json::object();
  if (!model_options_.is_null()) record["model_options"] = model_options_;
  record["stages"] = stages_;
  WriteFileAtomically(file_, record.dump(1) + "\n");
}

}  // namespace agentr
