#include "eval/compare_runs.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/file.h"
#include "eval/comparison.h"
#include "eval/episode_store.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

struct Run {
  std::vector<Episode> episodes;
  std::string options;
};

Run ReadRun(const std::string& folder) {
  std::vector<StoredEpisode> stored = ReadEpisodes(folder);
  if (stored.empty()) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("there are no episodes in {}; give the folder with the files "
                                 "search_results_ID.json",
                                 folder));
  }
  Run run;
  run.options = stored.front().options;
  for (StoredEpisode& one : stored) run.episodes.push_back(std::move(one.episode));
  return run;
}

}  // namespace

ExitCode CompareRuns(const std::vector<std::string>& folders, double success,
                     const std::string& json_file) {
  if (folders.size() != 2) {
    throw FatalError(ExitCode::kUsage, "--compare takes two folders of results: --compare A B");
  }
  const Run a = ReadRun(folders[0]);
  const Run b = ReadRun(folders[1]);
  CompareOptions options;
  options.success_threshold = success;
  const std::string differences = OptionDifferences(a.options, b.options, "A", "B");
  const Comparison comparison = Compare(a.episodes, b.episodes, options);
  fmt::print("{}", ComparisonTable(comparison, folders[0], folders[1]));
  if (!differences.empty()) fmt::print("played with other options: {}\n", differences);
  if (!json_file.empty()) {
    const Json json = ComparisonJson(comparison, folders[0], folders[1]);
    WriteFileAtomically(json_file, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  return ExitCode::kOk;
}

}  // namespace agentr
