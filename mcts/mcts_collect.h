// The job of mcts_collect: from options to trees on disk and a summary.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "mcts/collector.h"
#include "mcts/search.h"
#include "rollout/models.h"
#include "rollout/run_options.h"

namespace agentr {

class OptionSet;

struct MctsCollectOptions {
  EnvironmentOptions environment;
  int min = 0;
  int max = 200;                            // exclusive
  std::vector<std::string> task_type = {};  // SciWorld: only tasks of these types ("1-1")
  std::string split = "train";              // train: all ids but the test ids; test; all
  std::string output_dir = "mcts_result";
  std::string tree_format = "compact";
  ModelOptions model;
  SearchOptions search;
  CollectorOptions collector;
};

void Declare(OptionSet& set, MctsCollectOptions& options);

// The ids that a run is to search: min … max-1 of the split, below `tasks` (the number of tasks the
// server has, 0 if unknown: from there on ids would name the first tasks again, test ids too). With
// task types min and max count among the tasks of these types. Throws FatalError(kUsage) for a type
// that is unknown, or that the task does not have.
std::vector<int> TaskIds(const MctsCollectOptions& options, int64_t tasks);

// Collects from the servers in options.env_server_base (not empty) and writes run.json and
// resolved.toml beside the trees; `load` makes the model of --model_dir. Prints the summary to
// stdout. Throws FatalError.
ExitCode Collect(const MctsCollectOptions& options, const OptionSet& resolved,
                 const ModelLoader& load);

}  // namespace agentr
