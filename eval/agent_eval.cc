#include "eval/agent_eval.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/file.h"
#include "common/fingerprint.h"
#include "common/hash.h"
#include "common/interrupt.h"
#include "common/json_depth.h"
#include "common/run_file.h"
#include "common/text.h"
#include "eval/compare_runs.h"
#include "eval/episode_store.h"
#include "eval/evaluation_plan.h"
#include "eval/failed_trajectories.h"
#include "eval/postgres_episode_store.h"
#include "eval/summary.h"
#include "rollout/job.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

std::string ModelType(const AgentEvalOptions& options) {
  if (!options.model_type.empty()) return options.model_type;
  if (IsScripted(options.model)) return "scripted";
  return options.model.dir.empty() ? "server" : "local";
}

fs::path ResultFolderOf(const AgentEvalOptions& options, const std::string& model_name) {
  const std::string name = FolderName(model_name + "_" + ModelType(options));
  const fs::path folder = fs::path(options.output_dir) / options.environment.task;
  if (options.revision_from.empty()) return folder / name;
  return folder / fmt::format("{}_revision_of_{}", name, NameOf(options.revision_from));
}

// Everything that determines the episodes, except task and attempt.
Json PlayedWith(const AgentEvalOptions& o, const TaskFamily& family, const LanguageModel& model,
                const ServerVersion& server) {
  std::string instruction;
  for (const Message& message : family.Instruction()) {
    instruction += message.role + "\n" + message.content + "\n";
  }
  Json played_with = {{"task", family.name()},
                      {"model", model.name()},
                      {"model_identity", model.identity()},
                      {"instruction_hash", Sha256(instruction)},
                      {"data_hash", server.data_hash}};
  Json options = FingerprintOf(o.play);
  const Json seed = options["seed"];
  options.erase("seed");  // stands last
  options["seed"] = seed;
  // Later options are left out at their defaults, so that older episodes have the same text.
  const Json changed = ChangedOptions(o.play);
  for (const char* later : {"stop", "thinking"}) {
    if (!changed.contains(later)) options.erase(later);
  }
  if (o.play.slips.probability == 0) {
    for (const char* of_slips : {"slip", "slip_kind", "slip_shown"}) options.erase(of_slips);
  }
  played_with.update(options);
  return played_with;
}

using Plan = EvaluationPlan;

Plan MakePlan(const AgentEvalOptions& options, Json played_with, int64_t tasks) {
  const auto ids = [&] { return SelectTasks(options.tasks, options.environment.task, tasks); };
  if (options.revision_from.empty()) {
    return PlanAttempts(ids(), options.attempts, std::move(played_with));
  }
  if (options.attempts != 1) {
    throw FatalError(ExitCode::kUsage,
                     "--revision_from continues each failed episode once: leave out --attempts");
  }
  std::optional<std::vector<int>> only;
  if (options.tasks != TaskSelection{}) only = ids();
  const std::filesystem::path from = FindEvaluation(options.revision_from);
  const RevisionTestOptions test = {from.string(),     options.environment.task,
                                    options.success,   options.cut,
                                    options.play.seed, options.play.max_steps};
  return PlanRevisionTest(test, ReadEpisodes(from), only, std::move(played_with));
}

Json ToJson(const RevisionTest& test) {
  return {
      {"trajectories", test.trajectories},        {"gone_on_from", test.gone_on_from},
      {"mean_reward_before", test.reward_before}, {"mean_reward_after", test.reward_after},
      {"turned_into_success", test.turned},       {"replayed_turns", test.replayed_turns},
      {"replay_differences", test.differences},   {"episodes_with_differences", test.differing}};
}

// What run.json says of an evaluation besides the common report.
Json DetailsOf(const EvaluatorReport& r) {
  Json failed = Json::array();
  for (const Episode& e : r.failed) {
    failed.push_back(
        {{"task", e.task_id}, {"attempt", e.attempt}, {"end", Name(e.end)}, {"error", e.error}});
  }
  return {{"failed", std::move(failed)},
          {"turns", r.turns},
          {"episodes_per_s", PerSecond(r.finished, r.wall_s)}};
}

// The folder, or the run in a database, which is named like the folder.
std::unique_ptr<EpisodeStore> OpenStore(const AgentEvalOptions& options, const Plan& plan,
                                        const fs::path& folder) {
  const std::string played_with = plan.played_with.dump();
  if (options.store.url.empty()) return std::make_unique<FileEpisodeStore>(folder, played_with);
  std::vector<std::pair<int, int>> episodes;
  for (const EpisodeStart& start : plan.starts) episodes.emplace_back(start.task_id, start.attempt);
  const std::string name =
      RunName(options.store, options.environment.task, folder.filename().string());
  return std::make_unique<PostgresEpisodeStore>(options.store, name, played_with, episodes);
}

// Renames an existing summary of more than `with_result` episodes, because a run of fewer tasks
// must not overwrite it.
void KeepLargerSummary(const fs::path& folder, int64_t with_result) {
  const fs::path path = folder / "summary.json";
  if (!fs::is_regular_file(path)) return;
  const Json there = ParseJson<Json>(ReadFile(path));
  const auto count = there.is_object() ? there.find("with_result") : there.end();
  if (count == there.end() || !count->is_number_integer()) return;
  const auto episodes = count->get<int64_t>();
  if (episodes <= with_result) return;
  const std::string kept = fmt::format("summary.{}_episodes", episodes);
  for (const char* type : {".json", ".csv"}) {
    std::error_code none_there;  // ignored: the file may have been removed
    fs::rename(folder / fmt::format("summary{}", type), folder / (kept + type), none_there);
  }
  fmt::print("The earlier summary of {} episodes is now {}.json and .csv\n", episodes,
             (folder / kept).string());
}

// Measures the stored episodes, prints the table, writes summary.json and summary.csv. Returns
// whether every requested episode has a result. The lock lets only one process do this at a time:
// otherwise a run that loaded the episodes earlier could overwrite a newer summary.
bool Summarize(const Plan& plan, const EpisodeStore& store, const fs::path& folder,
               const AgentEvalOptions& options, const std::vector<std::string>& thoughts,
               const EvaluatorReport& report) {
  const FileLock lock(folder / kRunLock);
  // Loaded only after the lock is held, so that no newer episode is missing in the last summary.
  const std::vector<Episode> episodes = EpisodesOf(plan, store.Load(), report.failed);
  MetricOptions metric_options;
  metric_options.success_threshold = options.success;
  metric_options.revisions = {options.play.revision_action, thoughts};
  metric_options.slips = options.play.slips.probability > 0;
  metric_options.revision_window = options.revision_window;
  const EvalMetrics metrics = Measure(episodes, metric_options);
  const auto asked_for = static_cast<int64_t>(plan.starts.size());
  Json json = SummaryJson(metrics, asked_for);
  fmt::print("{}", SummaryTable(metrics, asked_for));
  if (!options.revision_from.empty()) {
    const RevisionTest test = JudgeRevisionTest(plan.trajectories, episodes, options.success);
    json["revision_test"] = ToJson(test);
    fmt::print("{}", RevisionTable(test));
  }
  json["success_threshold"] = options.success;
  if (!thoughts.empty()) json["revision_thoughts"] = thoughts;
  json["options"] = plan.played_with;
  KeepLargerSummary(folder, metrics.with_result);
  WriteFileAtomically(folder / "summary.json", json.dump(1) + "\n");
  WriteFileAtomically(folder / "summary.csv", SummaryCsv(episodes, metric_options));
  return metrics.with_result == asked_for;
}

// Refuses options that have no meaning without another one.
void CheckTogether(const AgentEvalOptions& options) {
  if (!options.compare_json.empty() && options.compare.empty() && options.arms.empty()) {
    throw FatalError(ExitCode::kUsage, "--compare_json goes with --compare A B or --arm");
  }
  if (options.cut != AgentEvalOptions{}.cut && options.revision_from.empty()) {
    throw FatalError(ExitCode::kUsage, "--cut goes with --revision_from DIR");
  }
}

void PrintReport(const EvaluatorReport& r, bool complete, const fs::path& folder) {
  PrintOutcome(r, r.failed.size(), "episodes played", "being played");
  fmt::print(", {:.1f} episodes/s\n", PerSecond(r.finished, r.wall_s));
  PrintOddities(r, "repeated");
  for (const Episode& e : r.failed) {
    const std::string attempt = e.attempt > 0 ? fmt::format(", attempt {},", e.attempt) : "";
    fmt::print("  task {}{} failed ({}): {}\n", e.task_id, attempt, Name(e.end),
               EscapeControls(e.error));
  }
  if (!complete || r.interrupted) fmt::print("Run the same command again to continue.\n");
  fmt::print("{}\n", folder.string());
}

}  // namespace

void Declare(OptionSet& set, AgentEvalOptions& o) {
  DeclareTask(set, o.environment, "Tasks");
  Declare(set, o.tasks);
  set.Add("--attempts", o.attempts, "Episodes of each task").Min(1).OnlyOutput();
  set.Add("--success", o.success,
          "A reward of at least this is a success (0: what the task says, which is 1, for babyai "
          "0.09)")
      .Range(0, 1)
      .OnlyOutput();
  set.Add("--revision_window", o.revision_window,
          "With --slip: the steps after a slip in which a revision counts as one of it, and before "
          "a revision in which a slip or a refusal gives reason for it")
      .Min(1)
      .OnlyOutput();
  set.Add("--thoughts", o.thoughts,
          "File of revision thoughts, the one given to path_collect. A turn whose thought begins "
          "with one of them counts as a revision, too; rows of --revision_turn next teach such "
          "turns")
      .OnlyOutput();
  set.Group("Revision test and comparison");
  set.Add(
      "--revision_from", o.revision_from,
      "Folder of an evaluation: replay its failed episodes up to a cut and continue from there");
  set.Add("--cut", o.cut, "Turns to replay: a number, or seeded (drawn for each episode)");
  set.Add("--compare", o.compare, "Compare the evaluations in two folders and play nothing")
      .OnlyOutput();
  set.Add("--arm", o.arms,
          "NAME=DIR,DIR,…: an arm of an experiment, the evaluations of its trainings on the same "
          "tasks. Give one for each arm, and the same name again for each further repetition of "
          "the experiment. Compares the arms with the first one, with intervals over tasks, "
          "trainings and repetitions, and plays nothing")
      .OnlyOutput();
  set.Add("--compare_json", o.compare_json,
          "JSON file for the result of --arm, or of --compare with every task that was won or lost")
      .Formerly("--comparison")
      .OnlyOutput();
  set.Group("Output");
  set.Add(
         "--output_dir", o.output_dir,
         "Results are written to OUTPUT_DIR/TASK/<model_name>_<model_type>/search_results_ID.json, "
         "for a revision test to …_revision_of_<folder>; existing ones are kept")
      .OnlyOutput();
  set.Add("--model_type", o.model_type,
          "Second part of the folder's name; default: scripted, server or local, by how the model "
          "runs",
          "MODEL_TYPE")
      .OnlyOutput();
  Declare(set, o.store);
  Declare(set, o.play);
  Declare(set, o.environment);
  Declare(set, o.model);
  DeclareParallelism(set, o.parallelism, "episodes", "--tries");
}

ExitCode AgentEval(const AgentEvalOptions& given, const OptionSet& resolved, Workbench& workbench) {
  AgentEvalOptions options = given;
  CheckTogether(options);
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(options.environment.task);
  std::vector<std::string> thoughts;
  if (!options.thoughts.empty()) {
    thoughts = ParseRevisionThoughts(ReadFile(options.thoughts), options.thoughts);
  }
  if (!options.arms.empty()) {
    return CompareArmRuns(options.arms, options.success, options.revision_window, thoughts,
                          options.compare_json);
  }
  if (!options.compare.empty()) {
    return CompareRuns(options.compare, options.success, options.revision_window, thoughts,
                       options.compare_json);
  }
  if (options.success == 0) options.success = family->SuccessReward();
  if (options.play.temperature == PlayOptions::kChooseTemperature)
    options.play.temperature = options.attempts > 1 ? 1 : 0;
  if (options.play.revision_action.empty()) {
    options.play.revision_action = family->RevisionAction();
  }
  PlayJob job("agent_eval", options.environment, options.model, options.play.snap_actions, resolved,
              workbench);
  CheckSlips(options.play.slips, options.environment.task);
  const ServerVersion& server = job.environment().info();
  const Plan plan =
      MakePlan(options, PlayedWith(options, job.family(), job.model(), server), server.tasks);
  const fs::path folder = ResultFolderOf(options, job.model().name());
  const std::unique_ptr<EpisodeStore> store = OpenStore(options, plan, folder);
  CheckFolder(*store, plan);
  job.Begin(folder,
            fmt::format("playing {} {} episodes", plan.starts.size(), options.environment.task),
            store->place());
  Evaluator evaluator(job.family(), job.environment(), job.model(), *store, options.play,
                      options.parallelism);
  EvaluatorReport report = evaluator.Run(plan.starts, StopOnSignal());
  job.Record(folder, "played_with", plan.played_with, report, DetailsOf(report));
  const bool complete = Summarize(plan, *store, folder, options, thoughts, report);
  job.PrintUsage(report);
  PrintReport(report, complete, folder);
  return ExitCodeOf(report, !complete);
}

}  // namespace agentr
