// The job of mcts_collect: searches trees according to the options, writes them and prints a
// summary.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "mcts/collector.h"
#include "mcts/search.h"
#include "rollout/run_options.h"
#include "rollout/workbench.h"
#include "store/store_options.h"
#include "tasks/splits.h"

namespace agentr {

class OptionSet;

struct MctsCollectOptions {
  EnvironmentOptions environment;
  int min = 0;
  int max = 200;                            // exclusive
  std::vector<std::string> task_type = {};  // SciWorld: only tasks of these types ("1-1")
  SplitPart split = SplitPart::kTrain;
  int sample = 0;  // only so many of the ids, drawn by the search's seed; 0: all
  std::string output_dir = "mcts_result";
  bool mix_options = false;  // allow trees that were searched with other options in the folder
  TreeFormat tree_format = TreeFormat::kCompact;
  StoreOptions store;  // a database instead of output_dir for the trees
  ModelOptions model;
  SearchOptions search;
  ParallelismOptions parallelism;
};

void Declare(OptionSet& set, MctsCollectOptions& options);

// The ids to search, increasing: min … max-1 of the split, or a sample of them, below `tasks`, the
// server's number of tasks (0 if unknown; larger ids would name the first tasks again, including
// test tasks). With task types, min and max are positions among the tasks of these types. Throws
// FatalError(kUsage) for an unknown type, or if this kind of task has no types.
std::vector<int> TaskIds(const MctsCollectOptions& options, int64_t tasks);

// Searches the tasks. Writes the trees into the folder OUTPUT_DIR/TASK/MODEL or into a database,
// and run.json and resolved.toml into the folder. Prints the summary to stdout. Throws FatalError.
ExitCode MctsCollect(const MctsCollectOptions& options, const OptionSet& resolved,
                     Workbench& workbench);

}  // namespace agentr
