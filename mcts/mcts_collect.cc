#include "mcts/mcts_collect.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "clients/env/gold_source.h"
#include "clients/env/http_environment.h"
#include "common/interrupt.h"
#include "common/options.h"
#include "common/run_file.h"
#include "common/version.h"
#include "rollout/prompt_truncation.h"
#include "rollout/run_report.h"
#include "rollout/snapping.h"
#include "tasks/sciworld/sciworld_tasks.h"
#include "tasks/splits.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

nlohmann::ordered_json ToJson(const CollectReport& r) {
  auto failed = nlohmann::ordered_json::array();
  for (const FailedTask& f : r.failed) {
    failed.push_back({{"task", f.task}, {"kind", Name(f.error.kind)}, {"error", f.error.message}});
  }
  nlohmann::ordered_json json = ToJson(static_cast<const RunReport&>(r));
  json["failed"] = std::move(failed);
  json["nodes"] = r.nodes;
  json["nodes_per_s"] = PerSecond(r.nodes, r.wall_s);
  return json;
}

// Trees of another model under the same name, or of other data under the same ids, would be taken
// for this run's; those of other options may be meant.
void CheckEarlierTrees(const FileTreeStore& store, const TreeOrigin& origin,
                       const SearchOptions& search) {
  const std::optional<Tree> earlier = store.Newest();
  if (!earlier || earlier->origin().family.empty()) return;  // Agent-R's files do not tell
  const TreeOrigin& there = earlier->origin();
  const bool other_model =
      there.model != origin.model || there.model_identity != origin.model_identity;
  const bool other_data =
      there.data_hash != origin.data_hash && !there.data_hash.empty() && !origin.data_hash.empty();
  if (other_model || other_data) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("the trees that are already in {} were searched with {}: choose another {}",
                    store.folder().string(),
                    other_model ? "another model of the name " + origin.model
                                : "a server of other data, where an id is another task",
                    other_model ? "--model_name or --output_dir" : "--output_dir"));
  }
  if (there.search == ToJson(search)) return;
  spdlog::warn(
      "the trees that are already in {} were searched with other options ({}); use another "
      "--output_dir to keep them apart",
      store.folder().string(), there.search);
}

void PrintSummary(const CollectReport& r, int64_t environment_calls, const fs::path& folder) {
  PrintOutcome(r, r.failed.size(), "trees written", "being searched");
  fmt::print("\n");
  if (r.nodes > 0) {
    const auto nodes = static_cast<double>(r.nodes);
    fmt::print(
        "{} nodes, {:.0f} nodes/s; per node {:.3f} model requests, {:.3f} environment calls\n",
        r.nodes, PerSecond(r.nodes, r.wall_s), static_cast<double>(r.usage.requests) / nodes,
        static_cast<double>(environment_calls) / nodes);
  }
  if (r.execution.mismatches > 0) {
    fmt::print(
        "{} replayed actions were answered differently: the environment is not deterministic\n",
        r.execution.mismatches);
  }
  for (const FailedTask& f : r.failed) {
    fmt::print("  task {} failed ({}): {}\n", f.task, Name(f.error.kind), f.error.message);
  }
  if (!r.failed.empty() || r.interrupted) fmt::print("Run the same command again to go on.\n");
  fmt::print("{}\n", folder.string());
}

std::vector<int> TasksOfTypes(const MctsCollectOptions& options) {
  if (options.environment.task == "sciworld") return SciWorldTasksOf(options.task_type);
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--task_type selects SciWorld tasks; {} has no types of tasks",
                               options.environment.task));
}

}  // namespace

void Declare(OptionSet& set, MctsCollectOptions& o) {
  set.Group("Tasks");
  DeclareTask(set, o.environment);
  set.Add("--min", o.min, "First task id").Min(0);
  set.Add("--max", o.max, "One past the last task id").Min(0);
  set.Add("--task_type", o.task_type,
          "SciWorld: only tasks of this type, such as 1-1 (repeatable); --min and --max then count "
          "among them");
  set.Add("--split", o.split, "Which ids of the range: train (all but the test ids), test, all")
      .OneOf({"train", "test", "all"});
  set.Group("Output");
  set.Add("--output_dir", o.output_dir,
          "Trees go to OUTPUT_DIR/TASK/MODEL/search_results_ID.json; those there are skipped");
  set.Add("--tree_format", o.tree_format, "compact, or agent-r as the original writes")
      .OneOf({"compact", "agent-r"});
  Declare(set, o.environment);
  Declare(set, o.model);
  Declare(set, o.search);
  Declare(set, o.collector);
}

std::vector<int> TaskIds(const MctsCollectOptions& options, int64_t tasks) {
  const Split& split = SplitOf(options.environment.task);
  const SplitPart part = ParseSplitPart(options.split);
  CheckPublished(part, options.environment.task);
  const bool by_type = !options.task_type.empty();
  const std::vector<int> typed = by_type ? TasksOfTypes(options) : std::vector<int>();
  const int most = by_type ? static_cast<int>(typed.size()) : std::numeric_limits<int>::max();
  std::vector<int> ids;
  for (int place = options.min; place < std::min(options.max, most); ++place) {
    const int id = by_type ? typed[static_cast<size_t>(place)] : place;
    if (tasks > 0 && id >= tasks) break;
    if (split.Has(part, id)) ids.push_back(id);
  }
  return ids;
}

ExitCode Collect(const MctsCollectOptions& options, const OptionSet& resolved,
                 const ModelLoader& load) {
  CheckContext(options.search.max_context, options.search.max_new_tokens);
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(options.environment.task);
  const std::unique_ptr<GoldSource> gold =
      NeedsGold(options.model, *family)
          ? MakeHttpGold(options.environment.task, options.environment.env_server_base,
                         options.environment.http)
          : nullptr;
  const std::unique_ptr<LanguageModel> model =
      MakeLanguageModel(options.model, *family, gold.get(), load);
  HttpEnvironment environment(MakeProtocol(options.environment.task),
                              options.environment.env_server_base, options.environment.http);
  if (options.search.snap_actions) CheckSnapping(options.environment.task, environment);
  const std::vector<int> ids = TaskIds(options, environment.info().tasks);
  if (ids.empty()) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("no {} task ids from {} to below {} (the server has {} tasks)", options.split,
                    options.min, options.max, environment.info().tasks));
  }
  const fs::path folder = ResultFolder(options.output_dir, options.environment.task, model->name());
  FileTreeStore store(folder, ParseTreeFormat(options.tree_format));
  TreeOrigin origin;
  origin.family = family->name();
  origin.model = model->name();
  origin.data_hash = environment.info().data_hash;
  origin.model_identity = model->identity();
  CheckEarlierTrees(store, origin, options.search);
  WriteResolved(folder, resolved.ResolvedToml());
  spdlog::info("searching {} {} tasks with model {}, results in {}", ids.size(),
               options.environment.task, model->name(), folder.string());
  Collector collector(*family, environment, *model, store, options.search, options.collector,
                      std::move(origin));
  const CollectReport report = collector.Run(ids, StopOnSignal());
  AppendToRunFile(folder, {{"program", "mcts_collect"},
                           {"version", kVersion},
                           {"compiler", __VERSION__},
                           {"model_name", model->name()},
                           {"search", ToJson(options.search)},
                           {"options", resolved.ResolvedJson()},
                           {"environment_server", ToJson(environment.info())},
                           {"environment_http", environment.stats().Json()},
                           {"result", ToJson(report)}});
  if (!options.model.dir.empty() || report.usage.cached_tokens > 0) {
    PrintTokens(report.usage, report.wall_s);
  }
  PrintSummary(report, environment.stats().calls(), folder);
  return ExitCodeOf(report.interrupted, report.gave_up, !report.failed.empty());
}

}  // namespace agentr
