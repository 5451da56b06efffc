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
#include "common/options.h"
#include "common/run_file.h"
#include "common/sum_fields.h"
#include "common/usable_cores.h"
#include "common/version.h"
#include "lm/bundled_model.h"
#include "revision/audit.h"
#include "revision/preference_rows.h"
#include "revision/report.h"
#include "revision/show.h"
#include "revision/standing_rows.h"
#include "revision/stored_trees.h"
#include "rollout/run_report.h"
#include "tasks/splits.h"
#include "tasks/task_family.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr int kInFlightWithModel = 32;  // their threads mostly wait
constexpr int kShowWidth = 140;

// Removes test tasks from the input and returns how many were removed. `tasks`: the environment's
// number of tasks (0 if unknown); larger ids name the first tasks again.
int64_t DropTestIds(TreeInput& input, int64_t tasks) {
  const Split& split = SplitOf(input.task);
  return static_cast<int64_t>(std::erase_if(input.files, [&](const TreeFile& file) {
    return split.IsTest(file.task_id) ||
           (tasks > 0 && split.IsTest(static_cast<int>(file.task_id % tasks)));
  }));
}

void CheckSomeAreLeft(const TreeInput& input, int64_t test_ids) {
  if (!input.files.empty()) return;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("no tree is left in {}: trees of test tasks ({} here) are never "
                               "used, and the others are outside of --min and --max",
                               input.folder.string(), test_ids));
}

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
  // The trees of a scripted policy, and those of the bundled model, contain its name.
  const bool is_given = !options.openai.base.empty() || !options.model_dir.empty();
  if (!is_given && (verifier == "rollout" || policy == kBundledModel)) {
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

// The requested formats, each once, and the provenance file that agent-r rows need.
std::vector<std::unique_ptr<RowFormat>> Formats(std::vector<std::string> names,
                                                const ChatEncoder* encoder) {
  if (std::ranges::find(names, "agent-r") != names.end()) names.emplace_back("provenance");
  std::vector<std::unique_ptr<RowFormat>> formats;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto before = names.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(names.begin(), before, names[i]) == before) {
      formats.push_back(MakeRowFormat(names[i], encoder));
    }
  }
  return formats;
}

int InFlight(const PathCollectOptions& options) {
  if (options.tasks_in_flight > 0) return options.tasks_in_flight;
  const std::string verifier = options.revise.Verifying();
  if (verifier == "actor" || verifier == "rollout") return kInFlightWithModel;
  return UsableCores();
}

void WriteRunFile(const fs::path& path, const ReviseReport& report, const Audit& audit,
                  const TreeInput& input, const OptionSet& resolved) {
  auto failed = nlohmann::ordered_json::array();
  for (const TaskFailure& f : report.failed) {
    failed.push_back({{"task", f.task_id}, {"bad_tree", f.bad_tree}, {"error", f.error.message}});
  }
  nlohmann::ordered_json model = FieldsToJson(kUsageFields, report.usage);
  if (report.cost > 0) model["cost"] = report.cost;
  const nlohmann::ordered_json run = {{"program", "path_collect"},
                                      {"version", kVersion},
                                      {"trees", input.folder.string()},
                                      {"options", resolved.ResolvedJson()},
                                      {"rows", report.rows},
                                      {"verified", report.verified},
                                      {"exact_duplicates", report.exact_duplicates},
                                      {"near_duplicates", report.near_duplicates},
                                      {"failed", std::move(failed)},
                                      {"wall_s", report.wall_s},
                                      {"model", std::move(model)},
                                      {"counts", ToJson(report.counts)},
                                      {"audit", audit.Json()}};
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  WriteFileAtomically(path, run.dump(1, ' ', false, replace) + "\n");
}

// Prints the audit of the file's rows.
ExitCode AuditFile(const PathCollectOptions& options) {
  const std::vector<AuditRow> rows = ReadAuditRows(options.audit);
  std::string task = options.input.task;
  if (task.empty()) task = FamilyOfRows(options.audit, rows);
  if (task.empty()) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("{}: neither its name nor its rows show the kind of task: give it with --task",
                    options.audit));
  }
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(task);
  Audit audit(*family);
  for (const AuditRow& row : rows) audit.Add(row);
  fmt::print("{}{}\n", audit.Table(), audit.Json().dump(1));
  return ExitCode::kOk;
}

// Nothing is replayed, because both responses of a pair were taken in the search.
ExitCode WritePreferences(const PathCollectOptions& options, TreeInput& input,
                          const OptionSet& resolved) {
  CheckSomeAreLeft(input, DropTestIds(input, 0));
  const std::string name = fmt::format("{}_preferences", input.task);
  const FileLock lock(fs::path(options.output_dir) / fmt::format(".{}.lock", name));
  const fs::path stem = fs::path(options.output_dir) / name;
  const bool all = CollectPreferences(input, options.revise, resolved, stem.string(), options.show,
                                      options.overwrite, StopOnSignal());
  if (!all) return ExitCode::kInterrupted;
  fmt::print("{}.jsonl\n", stem.string());
  return ExitCode::kOk;
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
  DeclareStyle(set, o.input.style, o.input.task);
  set.Add(
      "--model_name", o.input.model_name,
      "Model whose trees are used and that the verifiers actor and rollout query (default: that of "
      "the newest trees)",
      "MODEL_NAME");
  set.Add("--min", o.input.min, "First task id").Min(0);
  set.Add("--max", o.input.max, "One past the last task id").Min(0);
  set.Group("Output");
  set.Add("--output_dir", o.output_dir,
          "Rows are written to OUTPUT_DIR/TASK_DATATYPE.jsonl and files beside it");
  set.Add("--format", o.format, "Formats of the rows (repeatable)")
      .OneOf({"agent-r", "messages", "sharegpt", "tokens"});
  set.AddNamed(
      "--dedup", o.dedup, kDedups,
      "Duplicates to drop: exact (same text), near (also the same actions in other words), off");
  set.Add("--overwrite", o.overwrite,
          "1: also replace existing rows that are more, or of which more are verified; 0: keep "
          "those")
      .OnlyOnCommandLine();
  set.Add("--show", o.show, "Print this many rows").Min(0);
  set.Add("--audit", o.audit,
          "Make no rows, but audit those of this file (agent-r, messages, sharegpt)");
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
      .Range(0, 1000000);
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
      .Range(0, 4096);
  set.Add("--give_up_after", o.give_up_after, "Failed tasks in a row after which the run ends")
      .Min(1);
}

namespace {

ExitCode CollectFromFiles(const PathCollectOptions& options, const OptionSet& resolved,
                          Workbench& workbench) {
  if (options.input.min >= options.input.max) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--min {} is not below --max {}: this selects no tree",
                                 options.input.min, options.input.max));
  }
  std::atomic<bool>& stop = StopOnSignal();
  TreeInput input = FindTrees(options.input);
  if (options.revise.data_type == "preferences") return WritePreferences(options, input, resolved);
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(input.task);
  const std::unique_ptr<LanguageModel> model = OpenModel(options, input, *family, workbench);
  const auto environment = OpenEnvironment(options, input.task, workbench);
  const std::unique_ptr<ChatEncoder> encoder =
      options.model_dir.empty() ? nullptr : workbench.OpenEncoder(options.model_dir);
  const int64_t test_ids = DropTestIds(input, environment ? environment->info().tasks : 0);
  CheckSomeAreLeft(input, test_ids);

  const std::string name = fmt::format("{}_{}", input.task, options.revise.data_type);
  const fs::path stem = fs::path(options.output_dir) / name;
  const FileLock lock(fs::path(options.output_dir) / fmt::format(".{}.lock", name));

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
  context.records = fs::path(options.output_dir) / fmt::format(".{}.decisions", name);
  context.formats = Formats(options.format, encoder.get());
  context.encoder = encoder.get();
  std::vector<std::string> suffixes;
  for (const auto& format : context.formats) suffixes.emplace_back(format->suffix());

  const TaskReviser reviser(options.revise, std::move(context));
  RowSink sink(stem, suffixes, options.dedup);
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
  const auto why_not = [&](const ReviseReport& made) -> std::string {
    const auto standing = options.overwrite ? std::nullopt : FindStandingRows(stem);
    if (!standing) return "";
    return WhyKeep(*standing, {made.rows, made.verified}, resolved.ResolvedJson());
  };
  ReviseReport report = Revise(input.files, reviser, sink,
                               {InFlight(options), options.give_up_after}, stop, show, why_not);
  if (metered) {
    report.usage = metered->usage();
    report.cost = ParsePrice(options.openai.limits.price).Of(report.usage);
  }
  WarnOfOtherEnvironment(report);
  if (!report.files.empty()) {
    // These files describe the rows, so they change only together with them.
    WriteFileAtomically(stem.string() + ".toml", resolved.ResolvedToml());
    WriteRunFile(stem.string() + ".run.json", report, audit, input, resolved);
  }
  fmt::print("{}{}", ReportTable(report), audit.Table());
  if (!report.kept.empty()) throw FatalError(ExitCode::kUsage, report.kept);
  const ExitCode exit = ExitCodeOf(report.interrupted, report.gave_up, !report.failed.empty());
  if (exit != ExitCode::kOk) fmt::print("Run the same command again to continue.\n");
  return exit;
}

}  // namespace

ExitCode PathCollect(const PathCollectOptions& given, const OptionSet& resolved,
                     Workbench& workbench) {
  if (!given.audit.empty()) return AuditFile(given);
  if (given.store.url.empty()) return CollectFromFiles(given, resolved, workbench);
  Database database(given.store);
  const std::string run = TreeRun(database, given.store, given.input);
  const fs::path folder = given.output_dir;
  PathCollectOptions options = given;
  options.input = FetchTrees(database, run, given.input, folder / ".trees");
  const ExitCode exit = CollectFromFiles(options, resolved, workbench);
  const std::string name = fmt::format("{}_{}", options.input.task, options.revise.data_type);
  StoreRows(database, run, folder / name);
  return exit;
}

}  // namespace agentr
