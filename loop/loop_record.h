// loop.json, the record of a self_train run: its finished stages with their arguments, times and
// results. It is written as a whole after each stage.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "loop/loop_plan.h"

namespace agentr {

class LoopRecord {
 public:
  // Reads `folder`/loop.json, if it is there. Throws FatalError(kFile).
  explicit LoopRecord(std::filesystem::path folder);

  // `options`: those that determine what the models answer, as OptionSet::Fingerprint has them;
  // they are among no stage's arguments, and Add writes them down. Throws FatalError(kUsage) if
  // finished stages had others. A record of an earlier version, which has none, is accepted.
  void SetModelOptions(nlohmann::ordered_json options);

  // True if the stage is finished. Throws FatalError(kUsage) if it was finished with other
  // arguments, because later stages would not fit the earlier ones.
  bool Has(const LoopStage& stage) const;

  // The duration of the stage in seconds, and its result (loop_programs.h). Null if it is not
  // finished.
  const nlohmann::ordered_json& ResultOf(const std::string& stage) const;
  double SecondsOf(const std::string& stage) const;

  const std::filesystem::path& file() const { return file_; }

  void Add(const LoopStage& stage, double wall_s, nlohmann::ordered_json result);

 private:
  const nlohmann::ordered_json* Find(const std::string& stage) const;

  const std::filesystem::path file_;
  nlohmann::ordered_json stages_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json model_options_;  // null: not known
};

// Reads a JSON file. Throws FatalError(kFile) naming it.
nlohmann::ordered_json ReadJsonFile(const std::filesystem::path& file);

}  // namespace agentr
