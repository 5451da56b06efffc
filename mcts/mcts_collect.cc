#include "mcts/mcts_collect.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/interrupt.h"
#include "common/options.h"
#include "common/random.h"
#include "common/run_file.h"
#include "common/text.h"
#include "mcts/earlier_trees.h"
#include "mcts/postgres_tree_store.h"
#include "rollout/job.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// What run.json says of a search besides the common report.
nlohmann::ordered_json DetailsOf(const CollectReport& r) {
  auto failed = nlohmann::ordered_json::array();
  for (const FailedTask& f : r.failed) {
    failed.push_back(
        {{"task", f.task_id}, {"kind", Name(f.error.kind)}, {"error", f.error.message}});
  }
  return {{"failed", std::move(failed)},
          {"nodes", r.nodes},
          {"nodes_per_s", PerSecond(r.nodes, r.wall_s)},
          {"successes", r.successes},
          {"nodes_to_success", r.nodes_to_success}};
}

// The folder, or the run in a database, after a check of the trees that are there.
std::unique_ptr<TreeStore> OpenStore(const MctsCollectOptions& options, const TreeOrigin& origin,
                                     const std::vector<int>& ids, const fs::path& folder) {
  if (options.store.url.empty()) {
    auto store = std::make_unique<FileTreeStore>(folder, options.tree_format,
                                                 CommonText(origin, options.search));
    CheckEarlierTrees(*store, origin, options.search, options.mix_options);
    return store;
  }
  const std::string name = RunName(options.store, options.environment.task, origin.model);
  return std::make_unique<PostgresTreeStore>(options.store, name, options.tree_format, origin,
                                             options.search, options.mix_options, ids);
}

void PrintSummary(const CollectReport& r, int64_t environment_calls, const std::string& place) {
  PrintOutcome(r, r.failed.size(), "trees written", "being searched");
  fmt::print("\n");
  if (r.nodes > 0) {
    const auto nodes = static_cast<double>(r.nodes);
    fmt::print(
        "{} nodes, {:.0f} nodes/s; per node {:.3f} model requests, {:.3f} environment calls\n",
        r.nodes, PerSecond(r.nodes, r.wall_s), static_cast<double>(r.usage.requests) / nodes,
        static_cast<double>(environment_calls) / nodes);
    fmt::print("{} of {} trees contain a success{}\n", r.successes, r.finished,
               r.successes == 0 ? ""
                                : fmt::format(", found after {:.1f} nodes on average",
                                              static_cast<double>(r.nodes_to_success) /
                                                  static_cast<double>(r.successes)));
  }
  PrintOddities(r, "replayed");
  for (const FailedTask& f : r.failed) {
    fmt::print("  task {} failed ({}): {}\n", f.task_id, Name(f.error.kind),
               EscapeControls(f.error.message));
  }
  if (!r.failed.empty() || r.interrupted) fmt::print("Run the same command again to continue.\n");
  fmt::print("{}\n", place);
}

// The message if no id is left to search.
std::string WhyNoIds(const MctsCollectOptions& options, int64_t tasks) {
  std::string text = fmt::format("no {} task ids from {} to below {}{}",
                                 NameOf(kSplitParts, options.split), options.min, options.max,
                                 tasks > 0 ? fmt::format(" (the server has {} tasks)", tasks) : "");
  MctsCollectOptions all = options;
  all.split = SplitPart::kAll;
  all.sample = 0;
  const size_t left_out = options.split == SplitPart::kAll ? 0 : TaskIds(all, tasks).size();
  if (left_out == 0) return text + "; choose other --min and --max";
  return text +
         fmt::format(
             "; {} ids of that range are {}: use --split all, or choose other --min and --max",
             left_out, options.split == SplitPart::kTrain ? "test ids" : "train ids");
}

std::vector<int> TasksOfTypes(const MctsCollectOptions& options) {
  const TaskKind& kind = TaskKindOf(options.environment.task);
  if (kind.ids_of_types) return kind.ids_of_types(options.task_type);
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--task_type selects SciWorld tasks; {} has no types of tasks",
                               options.environment.task));
}

}  // namespace

void Declare(OptionSet& set, MctsCollectOptions& o) {
  DeclareTask(set, o.environment, "Tasks");
  set.Add("--min", o.min, "First task id").Min(0).OnlyOutput();
  set.Add("--max", o.max, "One past the last task id").Min(0).OnlyOutput();
  set.Add("--task_type", o.task_type,
          "SciWorld: only tasks of this type, such as 1-1 (repeatable); --min and --max then count "
          "among them")
      .OnlyOutput();
  set.AddNamed("--split", o.split, kSplitParts,
               "The ids of the range to search: train (all except the test ids), test or all")
      .OnlyOutput();
  set.Add("--sample", o.sample, "Search only so many tasks of the range, drawn by --seed; 0: all")
      .Min(0)
      .OnlyOutput();
  set.Group("Output");
  set.Add("--output_dir", o.output_dir,
          "Trees are written to OUTPUT_DIR/TASK/MODEL/search_results_ID.json; existing ones are "
          "kept")
      .OnlyOutput();
  set.Add("--mix_options", o.mix_options,
          "Allow a folder with trees that were searched with other options (1), or refuse it (0)")
      .OnlyOutput();
  set.AddNamed("--tree_format", o.tree_format, kTreeFormats,
               "compact, or agent-r, the format of the original")
      .OnlyOutput();
  Declare(set, o.store);
  Declare(set, o.environment);
  Declare(set, o.model);
  Declare(set, o.search);
  DeclareParallelism(set, o.parallelism, "trees", "--task_attempts");
}

std::vector<int> TaskIds(const MctsCollectOptions& options, int64_t tasks) {
  const Split& split = SplitOf(options.environment.task);
  CheckPublished(options.split, options.environment.task);
  const bool by_type = !options.task_type.empty();
  const std::vector<int> typed = by_type ? TasksOfTypes(options) : std::vector<int>();
  const int most = by_type ? static_cast<int>(typed.size()) : std::numeric_limits<int>::max();
  std::vector<int> ids;
  for (int place = options.min; place < std::min(options.max, most); ++place) {
    const int id = by_type ? typed[static_cast<size_t>(place)] : place;
    if (tasks > 0 && id >= tasks) break;
    if (split.Has(options.split, id)) ids.push_back(id);
  }
  const auto count = static_cast<size_t>(options.sample);
  if (count > 0 && count < ids.size()) {
    RandomStream(options.search.seed).Split("tasks").Shuffle(ids);
    ids.resize(count);
    std::ranges::sort(ids);
  }
  return ids;
}

ExitCode MctsCollect(const MctsCollectOptions& options, const OptionSet& resolved,
                     Workbench& workbench) {
  PlayJob job("mcts_collect", options.environment, options.model, options.search.snap_actions,
              resolved, workbench);
  const ServerVersion& server = job.environment().info();
  CheckSlips(options.search.slips, options.environment.task);
  const std::vector<int> ids = TaskIds(options, server.tasks);
  if (ids.empty()) throw FatalError(ExitCode::kUsage, WhyNoIds(options, server.tasks));
  const std::string& task = options.environment.task;
  const fs::path folder = ResultFolder(options.output_dir, task, job.model().name());
  TreeOrigin origin;
  origin.family = job.family().name();
  origin.model = job.model().name();
  origin.data_hash = server.data_hash;
  origin.model_identity = job.model().identity();
  const std::unique_ptr<TreeStore> store = OpenStore(options, origin, ids, folder);
  job.Begin(folder, fmt::format("searching {} {} tasks", ids.size(), task), store->place());
  Collector collector(job.family(), job.environment(), job.model(), *store, options.search,
                      options.parallelism, std::move(origin));
  CollectReport report = collector.Run(ids, StopOnSignal());
  job.Record(folder, "search", ToJson(options.search), report, DetailsOf(report));
  job.PrintUsage(report);
  PrintSummary(report, job.environment().stats().calls(), store->place());
  const int64_t lost = report.finished + report.skipped - store->CountDone(ids);
  if (lost > 0) {
    fmt::print(
        "{} written trees are missing: was {} removed during the run? Run the same command "
        "again.\n",
        lost, store->place());
  }
  return ExitCodeOf(report, !report.failed.empty() || lost > 0);
}

}  // namespace agentr
