// path_collect on a database: reads the trees of a run, and keeps its rows beside them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "revision/path_collect.h"
#include "store/database.h"

namespace agentr {

// The run whose trees are meant: options.run; else TASK/MODEL, if `input` gives both; else the one
// that was worked on last. Throws FatalError: kFile if there is no such run or it has no trees.
std::string TreeRun(Database& database, const StoreOptions& options, const TreeInputOptions& input);

struct FetchedTrees {
  TreeInputOptions input;
  int damaged = 0;  // trees that are missing because the database has damaged them
};

// Brings the trees of the run into a folder below `cache`, as files of mcts_collect: it gets those
// that differ, and removes others. Returns `input` with this folder and the run's kind of task.
// A damaged tree is left out with a warning, and its task is free again (LoadResult). Throws
// FatalError.
FetchedTrees FetchTrees(Database& database, const std::string& run, TreeInputOptions input,
                        const std::filesystem::path& cache);

// A job on trees: PathCollect, CollectPreferences or CollectJudgements.
using TreeJob = std::function<ExitCode(const PathCollectOptions&, const OptionSet&, Workbench&)>;

// Does the job on the trees of options.store, and keeps the files that it wrote beside them, each
// under its name. kIncomplete if a tree was damaged. Throws FatalError.
ExitCode OnStoredTrees(const TreeJob& job, const PathCollectOptions& options,
                       const OptionSet& resolved, Workbench& workbench);

}  // namespace agentr
