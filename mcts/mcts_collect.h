// The job of mcts_collect: from options to trees on disk and a summary.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "mcts/collector.h"
#include "mcts/search.h"
#include "rollout/run_options.h"
#include "rollout/workbench.h"

namespace agentr {

class OptionSet;

struct MctsCollectOptions {
  EnvironmentOptions environment;
  int min = 0;
  int max = 200;                            // exclusive
  std::vector<std::string> task_type = {};  // SciWorld: only tasks of these types ("1-1")
  std::string split = "train";              // train: all ids but the test ids; test; all
  std::string output_dir = "mcts_result";
  bool mix_options = false;  // add to trees of other options
  std::string tree_format = "compact";
  ModelOptions model;
  SearchOptions search;
  ParallelismOptions parallelism;
};

void Declare(OptionSet& set, MctsCollectOptions& options);

// The ids that a run is to search: min … max-1 of the split, below `tasks` (the number of tasks the
// server has, 0 if unknown: from there on ids would name the first tasks again, test ids too). With
// task types min and max count among the tasks of these types. Throws FatalError(kUsage) for a type
// that is unknown, or that the task does not have.
std::vector<int> TaskIds(const MctsCollectOptions& options, int64_t tasks);

// Searches the tasks and writes run.json and resolved.toml beside the trees. Prints the summary to
// stdout. Throws FatalError.
ExitCode MctsCollect(const MctsCollectOptions& options, const OptionSet& resolved,
                     Workbench& workbench);

}  // namespace agentr
