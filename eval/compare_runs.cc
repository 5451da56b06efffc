#include "eval/compare_runs.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_lenient.h"
#include "common/text.h"
#include "eval/compare_arms.h"
#include "eval/comparison.h"
#include "eval/episode_store.h"
#include "eval/slip_metrics.h"
#include "tasks/task_file.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

struct Run {
  std::vector<Episode> episodes;
  std::string options;
};

std::string TaskOf(const Run& run) {
  return FieldOr<std::string>(Json::parse(run.options), "task", "");
}

// The evaluation in the folder (FindEvaluation); its kind of task is known then.
Run ReadRun(const std::filesystem::path& named) {
  const std::filesystem::path folder = FindEvaluation(named);
  std::vector<StoredEpisode> stored = ReadEpisodes(folder);
  Run run;
  run.options = stored.front().options;
  for (StoredEpisode& one : stored) run.episodes.push_back(std::move(one.episode));
  UseTaskFileBeside(folder, TaskOf(run));
  return run;
}

// Checks that the same id names the same task in both; returns the kind of task.
std::string CheckSameTasks(const Run& a, const Run& b) {
  const Json of_a = Json::parse(a.options), of_b = Json::parse(b.options);
  const std::string task_a = TaskOf(a), task_b = TaskOf(b);
  if (task_a != task_b) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("--compare: A is an evaluation on {}, B on {}: their tasks are not comparable",
                    task_a, task_b));
  }
  if (FieldOr<std::string>(of_a, "data_hash", "") != FieldOr<std::string>(of_b, "data_hash", "")) {
    spdlog::warn(
        "A and B were played on servers with different data: an id may name a different task in "
        "each");
  }
  return task_a;
}

// What "NAME=DIR,DIR…" says: an arm, and the runs in its folders.
struct NamedRuns {
  std::string name;
  std::vector<Run> runs;
};

NamedRuns ReadNamedRuns(const std::string& text) {
  const size_t equals = text.find('=');
  std::vector<std::string_view> folders;
  if (equals != std::string::npos) {
    folders = SplitWords(std::string_view(text).substr(equals + 1), ",");
  }
  if (equals == 0 || folders.empty()) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--arm {}: write NAME=DIR,DIR…, the folders of the arm's "
                                 "evaluations",
                                 text));
  }
  NamedRuns arm{text.substr(0, equals), {}};
  for (const std::string_view folder : folders) {
    arm.runs.push_back(ReadRun(folder));
  }
  return arm;
}

}  // namespace

ExitCode CompareRuns(const std::vector<std::string>& folders, double success, int revision_window,
                     const std::vector<std::string>& revision_thoughts,
                     const std::string& json_file) {
  if (folders.size() != 2) {
    throw FatalError(ExitCode::kUsage, "--compare takes two folders of results: --compare A B");
  }
  const Run a = ReadRun(folders[0]);
  const Run b = ReadRun(folders[1]);
  const std::string task = CheckSameTasks(a, b);
  CompareOptions options;
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(task);
  options.success_threshold = success > 0 ? success : family->SuccessReward();
  const std::string differences = PlayedDifferences(a.options, b.options, "A", "B");
  const Comparison comparison = Compare(a.episodes, b.episodes, options);
  fmt::print("{}", ComparisonTable(comparison, folders[0], folders[1]));
  const std::optional<SlipComparison> slips =
      CompareSlips(a.episodes, b.episodes, a.options, b.options,
                   {.success_threshold = options.success_threshold,
                    .revisions = {std::string(family->RevisionAction()), revision_thoughts},
                    .window = revision_window});
  if (slips) fmt::print("{}", SlipComparisonTable(*slips));
  fmt::print("a success is a reward of at least {}\n", options.success_threshold);
  if (!differences.empty()) {
    fmt::print("played with different options: {}\n", EscapeControls(differences));
  }
  if (!json_file.empty()) {
    Json json = ComparisonJson(comparison, folders[0], folders[1]);
    if (slips) json["slips"] = SlipComparisonJson(*slips);
    json["options"] = {{"a", Json::parse(a.options)}, {"b", Json::parse(b.options)}};
    WriteFileAtomically(json_file, DumpJson(json, 1) + "\n");
  }
  return ExitCode::kOk;
}

ExitCode CompareArmRuns(const std::vector<std::string>& arms, double success, int revision_window,
                        const std::vector<std::string>& revision_thoughts,
                        const std::string& json_file) {
  std::vector<NamedRuns> read;
  for (const std::string& arm : arms) read.push_back(ReadNamedRuns(arm));
  const Run& first = read.front().runs.front();
  std::vector<Arm> compared;
  for (const NamedRuns& named : read) {
    auto arm = std::ranges::find(compared, named.name, &Arm::name);
    if (arm == compared.end()) {
      const Json played = Json::parse(named.runs.front().options);
      arm = compared.insert(
          arm, Arm{named.name, {}, FieldOr<std::string>(played, "revision_action", "")});
    }
    std::vector<TrainingEpisodes>& trainings = arm->repetitions.emplace_back();
    for (const Run& run : named.runs) {
      CheckSameTasks(first, run);
      trainings.push_back(run.episodes);
    }
  }
  if (compared.size() < 2) {
    throw FatalError(ExitCode::kUsage,
                     "--arm: name two arms or more, the first one to compare with");
  }
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(TaskOf(first));
  const double threshold = success > 0 ? success : family->SuccessReward();
  const ArmsComparison comparison = CompareArms(
      compared, {.success_threshold = threshold,
                 .revisions = {std::string(family->RevisionAction()), revision_thoughts},
                 .window = revision_window});
  fmt::print("{}a success is a reward of at least {}\n", ArmsTable(comparison), threshold);
  if (!json_file.empty()) WriteFileAtomically(json_file, DumpJson(ArmsJson(comparison), 1) + "\n");
  return ExitCode::kOk;
}

}  // namespace agentr
