#include "report/run_results.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "mcts/tree_folder.h"
#include "report/report_parts.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRunFile = ".run.json";

// Trees and episodes have the same file names, as in Agent-R.
bool IsEpisode(const fs::path& file) {
  const auto json =
      Json::parse(ReadFile(file), nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/false);
  return json.is_object() && json.contains("env_score");
}

void LookInto(const fs::path& folder, std::vector<RunResult>& found) {
  if (fs::exists(folder / "loop.json")) found.push_back({ResultKind::kLoop, folder});
  if (fs::exists(folder / "metrics.jsonl")) found.push_back({ResultKind::kTraining, folder});
  bool attempts = false;
  std::vector<fs::path> folders, stems;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".")) continue;
    if (entry.is_directory()) {
      if (name != "checkpoints") folders.push_back(entry.path());
    } else if (name.size() > kRunFile.size() && name.ends_with(kRunFile)) {
      stems.push_back(folder / name.substr(0, name.size() - kRunFile.size()));
    }
    attempts = attempts || name.starts_with("search_results_");
  }
  if (attempts) {
    const std::vector<TreeFile> files = TreeFilesIn(folder);
    const bool episodes = files.empty() || IsEpisode(files.front().path);
    found.push_back({episodes ? ResultKind::kEvaluation : ResultKind::kSearch, folder});
  }
  for (const fs::path& stem : stems) {
    const auto run = ParseJson<Json>(ReadFile(stem.string() + std::string(kRunFile)));
    const std::string type = run.is_object() && run.contains("options")
                                 ? FieldOr<std::string>(run["options"], "data_type", "")
                                 : "";
    const bool paths = type != "preferences" && type != "judgements";
    if (FieldOr<std::string>(run, "program", "") == "path_collect" && paths) {
      found.push_back({ResultKind::kRows, stem});
    }
  }
  for (const fs::path& inner : folders) LookInto(inner, found);
}

}  // namespace

std::vector<RunResult> FindResults(const std::vector<std::string>& folders) {
  std::vector<RunResult> found;
  for (const std::string& folder : folders) {
    if (fs::is_directory(folder)) {
      // As every other path is written, without a slash at the end.
      const fs::path normal = fs::path(folder).lexically_normal();
      LookInto(normal.has_filename() ? normal : normal.parent_path(), found);
    } else {
      spdlog::warn("there is no folder {}; the report goes on without it", folder);
    }
  }
  if (found.empty()) {
    throw FatalError(
        ExitCode::kFile,
        fmt::format("nothing to report in {}: neither trees, rows, episodes, "
                    "metrics.jsonl nor loop.json. Give the folder into which a program "
                    "wrote its results",
                    fmt::join(folders, ", ")));
  }
  std::set<std::pair<fs::path, ResultKind>> seen;
  std::erase_if(found, [&](const RunResult& result) {
    return !seen.emplace(fs::weakly_canonical(result.path), result.kind).second;
  });
  std::ranges::stable_sort(found, {}, [](const RunResult& result) { return result.path; });
  return found;
}

}  // namespace agentr
