// The job of mcts_collect: from options to trees on disk and a summary.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "clients/http/http_client.h"
#include "rollout/models.h"
#include "common/error.h"
#include "mcts/collector.h"
#include "mcts/search.h"

namespace agentr {

class OptionSet;

struct CollectOptions {
  std::string task = "webshop";
  int min = 0;
  int max = 200;                            // exclusive
  std::vector<std::string> task_type = {};  // SciWorld: only tasks of these types ("1-1")
  std::string split = "train";              // train: all ids but the test ids; test; all
  std::string output_dir = "mcts_result";
  std::string tree_format = "compact";
  std::vector<std::string> env_server_base;  // empty: the embedded server
  HttpOptions http = DefaultHttp();
  ModelOptions model;
  SearchOptions search;
  CollectorOptions collector;

  // As many connections as trees may want at once.
  static HttpOptions DefaultHttp();
};

void Declare(OptionSet& set, CollectOptions& options);

// `<output_dir>/<task>/<model_name>`, slashes in the model's name replaced.
std::filesystem::path ResultFolder(const CollectOptions& options, const std::string& model_name);

// The ids that a run is to search: min … max-1 of the split, below `tasks` (the number of tasks the
// server has, 0 if unknown: from there on ids would name the first tasks again, test ids too). With
// task types min and max count among the tasks of these types. Throws FatalError(kUsage) for a type
// that is unknown, or that the task does not have.
std::vector<int> TaskIds(const CollectOptions& options, int64_t tasks);

// Collects from the servers in options.env_server_base (not empty) and writes run.json and
// resolved.toml beside the trees; `load` makes the model of --model_dir. Prints the summary to
// stdout. Throws FatalError.
ExitCode Collect(const CollectOptions& options, const OptionSet& resolved, const ModelLoader& load);

}  // namespace agentr
