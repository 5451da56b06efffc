// Finds what the programs wrote in folders, for a report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace agentr {

enum class ResultKind { kLoop, kSearch, kRows, kTraining, kEvaluation };

// "loop" | "search" | "rows" | "training" | "evaluation".
std::string_view Name(ResultKind kind);

// The results of one run, or of several runs into the same folder.
struct RunResult {
  ResultKind kind = ResultKind::kSearch;
  // The folder; of rows `<folder>/<task>_<data_type>`, to which the ends of the file names belong.
  std::filesystem::path path;
};

// The results in `folders` and all folders in them, by path; hidden folders and checkpoints are left
// out. Each is recognised by its content:
//   loop        loop.json                       rows       NAME.run.json of path_collect
//   search      search_results_*.json, trees    training   metrics.jsonl
//   evaluation  search_results_*.json, episodes
// Throws FatalError(kFile) if one of `folders` does not exist, and if nothing is found.
std::vector<RunResult> FindResults(const std::vector<std::string>& folders);

}  // namespace agentr
