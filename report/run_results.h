// Finds what the programs wrote in folders, for a report.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "common/named_values.h"

namespace agentr {

enum class ResultKind { kLoop, kSearch, kRows, kTraining, kEvaluation };

inline constexpr std::array<NamedValue<ResultKind>, 5> kResultKinds = {
    {{"loop", ResultKind::kLoop},
     {"search", ResultKind::kSearch},
     {"rows", ResultKind::kRows},
     {"training", ResultKind::kTraining},
     {"evaluation", ResultKind::kEvaluation}}};

// The results of one run, or of several runs into the same folder.
struct RunResult {
  ResultKind kind = ResultKind::kSearch;
  // The folder; of rows `<folder>/<task>_<data_type>`, to which the ends of the file names belong.
  std::filesystem::path path;
};

// The results in `folders` and all folders in them, by path; hidden folders and checkpoints are
// left out. Each is recognised by its content:
//   loop        loop.json                       rows       NAME.run.json of path_collect, but for
//                                                          preferences and judgements
//   search      search_results_*.json, trees    training   metrics.jsonl
//   evaluation  search_results_*.json, episodes
// Throws FatalError(kFile) if one of `folders` does not exist, and if nothing is found.
std::vector<RunResult> FindResults(const std::vector<std::string>& folders);

}  // namespace agentr
