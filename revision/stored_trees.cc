#include "revision/stored_trees.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/json_depth.h"
#include "common/run_file.h"
#include "mcts/postgres_tree_store.h"
#include "store/results.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

FatalError NoTrees(const Database& database, const std::string& run) {
  return FatalError(
      ExitCode::kFile,
      fmt::format("there are no trees{} in {}: run mcts_collect --store first, or give --store_run",
                  run.empty() ? "" : " of run " + run, database.place()));
}

// What the run's options say: the kind of task under "family", the model under "model".
std::string OptionOf(const RunRecord& run, const char* name) {
  const auto options = ParseJson<nlohmann::ordered_json>(run.options);
  return options.is_object() ? options.value(name, "") : "";
}

// True if `wanted` is empty or the value.
bool Fits(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

// Stores the files `<stem>.…` as the rows of the run, each under its name.
void StoreRows(Database& database, const std::string& run, const fs::path& stem) {
  const RunRecord record = FindOrMakeRun(database, {"rows", run}, "{}");
  const std::string begin = stem.filename().string() + ".";
  for (const auto& entry : fs::directory_iterator(stem.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !name.starts_with(begin)) continue;
    StoreFile(database, record.id, name, ReadFile(entry.path()));
  }
}

}  // namespace

std::string TreeRun(Database& database, const StoreOptions& options,
                    const TreeInputOptions& input) {
  const bool named = !options.run.empty() || (!input.task.empty() && !input.model_name.empty());
  if (named) return RunName(options, input.task, input.model_name);
  std::string last;
  for (const std::string& name : RunsOfKind(database, kTreeRuns)) {
    const auto run = FindRun(database, {kTreeRuns, name});
    if (run && Fits(input.task, OptionOf(*run, "family")) &&
        Fits(input.model_name, OptionOf(*run, "model"))) {
      last = name;
    }
  }
  if (last.empty()) throw NoTrees(database, "");
  return last;
}

FetchedTrees FetchTrees(Database& database, const std::string& run, TreeInputOptions input,
                        const fs::path& cache) {
  const auto record = FindRun(database, {kTreeRuns, run});
  const std::vector<ResultHash> results =
      record ? HashesOf(database, record->id) : std::vector<ResultHash>();
  if (results.empty()) throw NoTrees(database, run);
  const std::string task = OptionOf(*record, "family");
  if (!Fits(input.task, task)) {
    throw FatalError(ExitCode::kUsage, fmt::format("--task {}: the trees of run {} are of {}",
                                                   input.task, run, task));
  }
  input.task = task;
  const fs::path folder =
      cache / FolderName(input.task) / FolderName(fs::path(run).filename().string());
  std::set<fs::path> wanted;
  int damaged = 0;
  for (const ResultHash& result : results) {
    const fs::path file = folder / TreeFileName(static_cast<int>(result.key));
    wanted.insert(file);
    if (fs::exists(file) && Sha256(ReadFile(file)) == result.sha256) continue;
    const std::string what = fmt::format("task {} of run {}", result.key, run);
    try {
      WriteFileAtomically(file, LoadResult(database, record->id, result.key, what));
    } catch (const DamagedData& error) {
      spdlog::warn("{}", error.what());
      wanted.erase(file);
      ++damaged;
    }
  }
  if (wanted.empty()) throw NoTrees(database, run);
  for (const TreeFile& file : TreeFilesIn(folder)) {
    if (!wanted.contains(file.path)) fs::remove(file.path);
  }
  input.input_dir = folder.string();
  return {std::move(input), damaged};
}

ExitCode OnStoredTrees(const TreeJob& job, const PathCollectOptions& given,
                       const OptionSet& resolved, Workbench& workbench) {
  Database database(given.store);
  const std::string run = TreeRun(database, given.store, given.input);
  PathCollectOptions options = given;
  const FetchedTrees trees =
      FetchTrees(database, run, given.input, fs::path(given.output_dir) / ".trees");
  options.input = trees.input;
  const ExitCode exit = job(options, resolved, workbench);
  // A run that was interrupted or gave up wrote nothing: the files there are those of another one.
  const bool wrote = exit == ExitCode::kOk || exit == ExitCode::kIncomplete;
  if (wrote) StoreRows(database, run, RowStem(options, options.input.task));
  if (trees.damaged == 0) return exit;
  fmt::print(
      "{} trees were damaged in the database and are left out. Their tasks are free again: run "
      "mcts_collect --store as before, then this command again.\n",
      trees.damaged);
  return exit == ExitCode::kOk ? ExitCode::kIncomplete : exit;
}

}  // namespace agentr
