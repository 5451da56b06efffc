// The main job of path_collect: makes files of training data according to the options, and prints a
// table. The program's other jobs are CollectPreferences (preference_rows.h), CollectJudgements
// (judgement_rows.h) and AuditFile (audit.h); OnStoredTrees (stored_trees.h) runs a job on trees of
// a database.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "mcts/tree.h"
#include "mcts/tree_folder.h"
#include "revision/make/dedup.h"
#include "revision/revise_options.h"
#include "rollout/run_options.h"
#include "rollout/workbench.h"
#include "store/store_options.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

struct PathCollectOptions {
  TreeInputOptions input;
  std::string output_dir = "path_result";
  StoreOptions store;  // a database from which the trees come and that also keeps the rows
  std::vector<std::string> format = {"agent-r", "messages"};
  Dedup dedup = Dedup::kNear;
  ReviseOptions revise;
  std::string replay = "auto";     // 1 | auto | 0: see --help
  EnvironmentOptions environment;  // its task is set from the trees
  int sessions = 0;                // as in ParallelismOptions
  // The model of the verifier actor; its tokenizer also makes token rows.
  std::string model_dir = "";  // folder of a model that runs in this process
  OpenAiOptions openai;        // for an actor on a server
  int tasks_in_flight = 0;     // 0: chosen automatically
  int give_up_after = PipelineOptions{}.give_up_after;
  int show = 0;            // rows to print
  bool parquet = false;    // also write the rows as Parquet
  bool overwrite = false;  // also replace more or better verified rows
  std::string audit = "";  // a file of rows to audit instead
};

void Declare(OptionSet& set, PathCollectOptions& options);

// `<output_dir>/<task>_<data_type>`, with which the names of all files of a run begin.
std::filesystem::path RowStem(const PathCollectOptions& options, const std::string& task);

// Writes the options into `stem`.toml, and into `stem`.run.json what every run on these trees says,
// followed by its `result`. Throws FatalError(kFile).
void WriteRunFiles(const std::filesystem::path& stem, const TreeInput& input,
                   const OptionSet& resolved, const nlohmann::ordered_json& result);

// Held while the files of `stem` are made. Throws FatalError(kUsage) if another run holds it.
FileLock LockRows(const std::filesystem::path& stem);

// Makes the rows of the trees in options.input, in each format, beside .run.json and .toml (the
// options; give it to --config), with a dataset card for the folder (rows/dataset_card.h) and, for
// the model of --model_dir, a chat template for other trainers (.chat_template.jinja). If the run
// made fewer or less verified rows than exist (standing_rows.h) and `overwrite` is not set, the
// existing rows stay and the run ends with kUsage. Prints the table to stdout. Throws FatalError.
ExitCode PathCollect(const PathCollectOptions& options, const OptionSet& resolved,
                     Workbench& workbench);

// The lines of one tree.
using LinesOfTree =
    std::function<std::vector<std::string>(const Tree&, const TreeFile&, const TaskFamily&)>;
// What is printed at the end, and the "counts" of .run.json.
using LineCounts = std::function<std::pair<std::string, nlohmann::ordered_json>()>;

// A job whose rows need no environment: writes RowStem + `file_end`, .run.json and .toml from the
// trees of options.input. kInterrupted: a signal came first, and nothing is written. Throws
// FatalError; kUsage if there are more rows already and they are not to be overwritten.
ExitCode CollectByTree(const PathCollectOptions& options, const OptionSet& resolved,
                       std::string_view file_end, const LinesOfTree& lines_of,
                       const LineCounts& counts);

}  // namespace agentr
