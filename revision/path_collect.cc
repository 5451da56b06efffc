#include "revision/path_collect.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "clients/env/http_environment.h"
#include "clients/metered_model.h"
#include "clients/openai/limited_model.h"
#include "common/file.h"
#include "common/interrupt.h"
#include "common/json_depth.h"
#include "common/machine_limits.h"
#include "common/options.h"
#include "common/run_file.h"
#include "lm/named_model.h"
#include "mcts/earlier_trees.h"
#include "revision/report.h"
#include "revision/revise.h"
#include "revision/show.h"
#include "rollout/run_report.h"
#include "rows/audit.h"
#include "rows/dataset_card.h"
#include "rows/parquet.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr int kInFlightWithModel = 32;  // their threads mostly wait
constexpr int kShowWidth = 140;

// The environment for the replay; null if there is none and that is allowed.
std::unique_ptr<HttpEnvironment> OpenEnvironment(const PathCollectOptions& options,
                                                 const std::string& task, Workbench& workbench) {
  if (options.replay == "0") return nullptr;
  EnvironmentOptions environment = options.environment;
  environment.task = task;
  try {
    return workbench.OpenEnvironment(environment);
  } catch (const FatalError& error) {
    throw FatalError(error.code(),
                     fmt::format("{}; rows are replayed before they are written, so existing files "
                                 "stay as they are; --replay 0 writes unchecked rows",
                                 error.what()));
  }
}

std::unique_ptr<LanguageModel> OpenModel(const PathCollectOptions& options, const TreeInput& input,
                                         const TaskFamily& family, Workbench& workbench) {
  const std::string verifier = options.revise.Verifying();
  if (verifier != "actor" && verifier != "rollout") return nullptr;
  const std::string& name = options.input.model_name;
  const std::string& policy = name.empty() ? input.model : name;
  EnvironmentOptions environment = options.environment;
  environment.task = input.task;
  // The trees of a scripted policy, and those of a named model, contain its name.
  const bool is_given = !options.openai.base.empty() || !options.model_dir.empty();
  if (!is_given && (verifier == "rollout" || IsNamedModel(policy))) {
    return workbench.OpenModel({.name = policy}, family, environment);
  }
  if (options.openai.base.empty() == options.model_dir.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "the verifiers actor and rollout need the model, in one place: give its "
                     "folder, --model_dir DIR (bundled: the one that comes with the programs), or "
                     "the base URL of an OpenAI-compatible server that has it, --llm_base "
                     "http://host:port/v1; --verifier tree needs none");
  }
  const bool local = !options.model_dir.empty();
  return workbench.OpenModel({.name = name.empty() && !local ? input.model : name,
                              .dir = options.model_dir,
                              .openai = options.openai},
                             family, environment);
}

int InFlight(const PathCollectOptions& options) {
  if (options.tasks_in_flight > 0) return options.tasks_in_flight;
  const std::string verifier = options.revise.Verifying();
  if (verifier == "actor" || verifier == "rollout") return kInFlightWithModel;
  return UsableCores();
}

// Rows in pieces of text and tokens are lists of lists, of which no table is made.
void WriteParquets(const fs::path& stem) {
  for (const RowFileOfRun& file : RowFilesOf(stem)) {
    if (file.format == DataFormat::kSegments) continue;
    fs::path table = file.path;
    WriteParquet(file.path, ColumnsOf(file.format), table.replace_extension(".parquet"));
  }
}

// All trees of a folder were searched by the same task file.
void WarnOfOtherTaskFile(const TreeInput& input, const std::string& data_hash) {
  if (TaskFileHash(data_hash).empty()) return;
  const TreeFile& file = input.files.front();
  std::string data_hash_there;
  try {
    data_hash_there = LoadTree(file, input.task, ReadFile(file.path)).origin().data_hash;
  } catch (const FatalError&) {
    return;  // the revision of this tree says what is wrong with it
  }
  const std::string_view searched = TaskFileHash(data_hash_there);
  if (searched.empty() || searched == TaskFileHash(data_hash)) return;
  spdlog::warn(
      "the trees were searched by another task file of the name {}, or an earlier state of it; the "
      "rows follow the present one. The file of the search lies beside the trees: --task {}",
      input.task, (input.folder / "task.toml").string());
}

void WarnOfOtherEnvironment(const ReviseReport& report) {
  if (report.counts.other_start == 0) return;
  spdlog::warn(
      "{} trees begin differently in the environment, so their rows are unchecked: give the server "
      "of the search with --env_server_base",
      report.counts.other_start);
}

}  // namespace

void Declare(OptionSet& set, PathCollectOptions& o) {
  set.Group("Trees");
  set.Add(
      "--input_dir", o.input.input_dir,
      "Trees of mcts_collect: INPUT_DIR/TASK/MODEL/search_results_ID.json, or their own folder");
  set.Add("--task", o.input.task, "Kind of task (default: that of the newest trees)", "TASK");
  DeclareTaskFile(set, o.input.file, o.input.task, "Trees");
  DeclareStyle(set, o.input.style, o.input.task, "Trees");
  set.Add(
      "--model_name", o.input.model_name,
      "Model whose trees are used and that the verifiers actor and rollout query (default: that of "
      "the newest trees)",
      "MODEL_NAME");
  set.Add("--min", o.input.min, "First task id").Min(0).OnlyOutput();
  set.Add("--max", o.input.max, "One past the last task id").Min(0).OnlyOutput();
  set.Group("Output");
  set.Add("--output_dir", o.output_dir,
          "Rows are written to OUTPUT_DIR/TASK_DATATYPE.jsonl and files beside it")
      .OnlyOutput();
  set.Add("--format", o.format, "Formats of the rows (repeatable)")
      .OneOf({"agent-r", "messages", "sharegpt", "prompt_completion", "last_turn", "tokens",
              "preference"})
      .OnlyOutput();
  set.Add("--parquet", o.parquet, "1: also write each file of rows as Parquet, beside it")
      .OnlyOutput();
  set.AddNamed(
         "--dedup", o.dedup, kDedups,
         "Duplicates to drop: exact (same text), near (also the same actions in other words), off")
      .OnlyOutput();
  set.Add("--overwrite", o.overwrite,
          "1: also replace existing rows that are more, or of which more are verified; 0: keep "
          "those")
      .OnlyOnCommandLine()
      .OnlyOutput();
  set.Add("--show", o.show, "Print this many rows").Min(0).OnlyOutput();
  set.Add("--audit", o.audit,
          "Make no rows, but audit those of this file (agent-r, messages, sharegpt)")
      .OnlyOutput();
  Declare(set, o.store);
  Declare(set, o.revise);
  set.Group("Replay");
  set.Add("--replay", o.replay,
          "1: replay each row in a fresh session; auto: the same, but rows of tasks that begin "
          "differently in the environment are written unchecked; 0: write all rows unchecked")
      .OneOf({"auto", "0", "1"});
  set.Add("--sessions", o.sessions,
          "Sessions open at once on servers without /expand; 0: 256, but 16 for each SciWorld "
          "server")
      .Range(0, 1000000)
      .OnlySpeed();
  Declare(set, o.environment);
  set.Group("Model");
  set.Add("--model_dir", o.model_dir,
          "Hugging Face folder of the model of the verifiers actor and rollout, which runs in this "
          "process; its tokenizer counts the tokens of rows and encodes them for --format tokens",
          "MODEL_DIR");
  Declare(set, o.openai);
  set.Group("Parallelism");
  set.Add("--tasks_in_flight", o.tasks_in_flight,
          "Trees in progress at once; 0: one per core, 32 with the verifiers actor and rollout")
      .Range(0, 4096)
      .OnlySpeed();
  set.Add("--give_up_after", o.give_up_after, "Failed tasks in a row after which the run ends")
      .Min(1)
      .OnlySpeed();
}

std::filesystem::path RowStem(const PathCollectOptions& options, const std::string& task) {
  return fs::path(options.output_dir) / fmt::format("{}_{}", task, options.revise.data_type);
}

void WriteRunFiles(const fs::path& stem, const TreeInput& input, const OptionSet& resolved,
                   const nlohmann::ordered_json& result) {
  WriteFileAtomically(stem.string() + ".toml", resolved.ResolvedToml());
  nlohmann::ordered_json run = RunOf("path_collect");
  run["trees"] = input.folder.string();
  run["options"] = resolved.ResolvedJson();
  run.update(result);
  WriteFileAtomically(stem.string() + ".run.json", DumpJson(run, 1) + "\n");
}

FileLock LockRows(const fs::path& stem) {
  return FileLock(stem.parent_path() / fmt::format(".{}.lock", stem.filename().string()));
}

ExitCode PathCollect(const PathCollectOptions& options, const OptionSet& resolved,
                     Workbench& workbench) {
  std::atomic<bool>& stop = StopOnSignal();
  TreeInput input = FindTrees(options.input);
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(input.task);
  const std::unique_ptr<LanguageModel> model = OpenModel(options, input, *family, workbench);
  const auto environment = OpenEnvironment(options, input.task, workbench);
  const std::unique_ptr<ChatEncoder> encoder =
      options.model_dir.empty() ? nullptr : workbench.OpenEncoder(options.model_dir);
  const int64_t test_ids = LeaveOutTestTasks(input, environment ? environment->info().tasks : 0);
  if (environment) WarnOfOtherTaskFile(input, environment->info().data_hash);
  const fs::path stem = RowStem(options, input.task);
  const FileLock lock = LockRows(stem);

  std::unique_ptr<SessionPool> sessions;
  if (environment) sessions = std::make_unique<SessionPool>(*environment, options.sessions);
  TaskReviser::Context context{.family = *family, .stop = stop};
  std::optional<MeteredModel> metered;
  if (model) metered.emplace(*model);
  context.model = metered ? &*metered : nullptr;
  context.environment = environment.get();
  context.sessions = sessions.get();
  context.data_hash = environment ? environment->info().data_hash : "";
  context.must_replay = options.replay == "1";
  context.model_name = input.model;
  context.records = stem.parent_path() / fmt::format(".{}.decisions", stem.filename().string());
  context.formats = MakeRowFormats(options.format, encoder.get());
  context.encoder = encoder.get();
  RowSink sink(stem, context.formats, {options.dedup, options.overwrite, resolved.ResolvedJson()});
  const TaskReviser reviser(options.revise, std::move(context));
  fmt::print("{} trees in {}", input.files.size(), input.folder.string());
  if (test_ids > 0) fmt::print(" ({} of test tasks left out)", test_ids);
  fmt::print("\n");
  int shown = 0;
  Audit audit(*family);
  const auto show = [&](const FinishedRow& row) {
    audit.Add(row.audit);
    if (shown >= options.show) return;
    fmt::print("{}\n", ShowTrajectory(row.trajectory, fmt::format("row {}", ++shown),
                                      ::isatty(STDOUT_FILENO) != 0, kShowWidth));
  };
  ReviseReport report =
      Revise(input.files, reviser, sink, {InFlight(options), options.give_up_after}, stop, show);
  if (metered) {
    report.usage = metered->usage();
    report.cost = options.openai.limits.Cost(report.usage);
  }
  WarnOfOtherEnvironment(report);
  if (!report.files.empty()) {
    // These files describe the rows, so they change only together with them.
    nlohmann::ordered_json result = ReportJson(report);
    result["audit"] = audit.Json();
    WriteRunFiles(stem, input, resolved, result);
    if (options.parquet) WriteParquets(stem);
    WriteDatasetCard(stem.parent_path());
    const std::string chat = encoder ? encoder->training_template() : "";
    if (!chat.empty()) WriteFileAtomically(stem.string() + ".chat_template.jinja", chat);
  }
  fmt::print("{}{}", ReportTable(report), audit.Table());
  if (!report.kept.empty()) throw FatalError(ExitCode::kUsage, report.kept);
  const ExitCode exit = ExitCodeOf(report.interrupted, report.gave_up, !report.failed.empty());
  if (exit != ExitCode::kOk) fmt::print("Run the same command again to continue.\n");
  if (exit != ExitCode::kOk || report.rows > 0) return exit;
  fmt::print("{}\n", WhyNoRows(report, options.revise.mistakes.choice.alpha));
  return ExitCode::kIncomplete;
}

ExitCode CollectByTree(const PathCollectOptions& options, const OptionSet& resolved,
                       std::string_view file_end, const LinesOfTree& lines_of,
                       const LineCounts& counts) {
  const std::atomic<bool>& stop = StopOnSignal();
  TreeInput input = FindTrees(options.input);
  LeaveOutTestTasks(input);
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(input.task);
  const fs::path stem = RowStem(options, input.task);
  const std::string file = stem.string() + std::string(file_end);
  const FileLock lock = LockRows(stem);
  AtomicFile rows(file);
  int64_t made = 0;
  for (const TreeFile& tree_file : input.files) {
    if (stop) return ExitCode::kInterrupted;
    const Tree tree = LoadTree(tree_file, input.task, ReadFile(tree_file.path));
    for (const std::string& line : lines_of(tree, tree_file, *family)) {
      rows.Append(line);
      ++made;
    }
  }
  const int64_t before =
      options.overwrite || !fs::exists(file) ? 0 : std::ranges::count(ReadFile(file), '\n');
  if (made < before) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("{} has {} rows and stays, because this run made only {}. Cure: "
                                 "--overwrite 1, or another --output_dir",
                                 file, before, made));
  }
  rows.Commit();
  const auto [table, json] = counts();
  WriteRunFiles(stem, input, resolved, {{"counts", json}});
  fmt::print("{}{}\n", table, file);
  return ExitCode::kOk;
}

}  // namespace agentr
