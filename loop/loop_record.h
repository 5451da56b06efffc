// loop.json, the record of a self_train run: its finished stages with their arguments, times and
// results. It is written as a whole after each stage.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "loop/loop_plan.h"

namespace agentr {

class LoopRecord {
 public:
  // Reads `folder`/loop.json, if it is there. Throws FatalError(kFile).
  explicit LoopRecord(std::filesystem::path folder);

  // True if the stage is finished. Throws FatalError(kUsage) if it was finished with other
  // arguments, because later stages would not fit the earlier ones.
  bool Has(const LoopStage& stage) const;

  // The duration of the stage in seconds, and its result (ReadResult). Null if it is not finished.
  const nlohmann::ordered_json& ResultOf(const std::string& stage) const;
  double SecondsOf(const std::string& stage) const;

  const std::filesystem::path& file() const { return file_; }

  void Add(const LoopStage& stage, double wall_s, nlohmann::ordered_json result);

 private:
  const nlohmann::ordered_json* Find(const std::string& stage) const;

  const std::filesystem::path file_;
  nlohmann::ordered_json stages_ = nlohmann::ordered_json::array();
};

// The figures of a finished stage, from the files that its program wrote:
//   mcts_collect  trees, failed                                 agent_train  steps
//   path_collect  rows and the audit of the rows                agent_eval   summary.json
// Throws FatalError(kFile) if they are missing.
nlohmann::ordered_json ReadResult(const LoopStage& stage);

// The file with the summary of an evaluation.
std::filesystem::path EvaluationFolder(const LoopStage& stage);

// Reads a JSON file. Throws FatalError(kFile) naming it.
nlohmann::ordered_json ReadJsonFile(const std::filesystem::path& file);

}  // namespace agentr
