#include "loop/loop_programs.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "common/json_fields.h"
#include "common/options.h"
#include "eval/agent_eval.h"
#include "loop/loop_record.h"
#include "mcts/mcts_collect.h"
#include "revision/path_collect.h"
#include "rl/agent_rl.h"
#include "training/agent_train.h"
#include "training/model/weight_snapshot.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

template <typename Options>
void CheckForLoop(const Options& /*options*/) {}

// More processes would be started as copies of the program that runs the loop.
void CheckForLoop(const DistributedOptions& options) {
  if (options.processes <= 1) return;
  throw FatalError(ExitCode::kUsage,
                   "--processes: in self_train the trainings run in its own process; train with "
                   "agent_train or agent_rl --processes, or leave the option out");
}

void CheckForLoop(const AgentTrainOptions& options) { CheckForLoop(options.distributed); }

void CheckForLoop(const AgentRlOptions& options) { CheckForLoop(options.distributed); }

void CheckForLoop(const PathCollectOptions& options) {
  const std::string& type = options.revise.data_type;
  if (options.audit.empty() && options.store.url.empty() && type != "preferences" &&
      type != "judgements") {
    return;
  }
  throw FatalError(
      ExitCode::kUsage,
      "--audit, --store and --data_type preferences or judgements: self_train learns from rows "
      "of trees in its own folder; use path_collect itself for these");
}

// Calls job(options, set, *workbench); without a workbench the arguments are only read.
template <typename Options, auto job>
ExitCode RunJob(const LoopStage& stage, LoopWorkbench* workbench) {
  Options options;
  OptionSet set(stage.program, "");
  Declare(set, options);
  std::vector<const char*> argv = {stage.program.c_str()};
  for (const Secret& argument : stage.arguments) argv.push_back(argument.Reveal().c_str());
  if (set.Parse(static_cast<int>(argv.size()), argv.data())) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("stage {} has a bad argument: {} {}", stage.name, stage.program,
                                 fmt::join(Redacted(stage.arguments), " ")));
  }
  CheckForLoop(options);
  return workbench == nullptr ? ExitCode::kOk : job(options, set, *workbench);
}

ExitCode Train(const AgentTrainOptions& options, const OptionSet& set, LoopWorkbench& workbench) {
  const std::string folder = (TrainFolder(options) / "model").string();
  WeightsListener listener;
  listener.show = [&](int64_t, std::shared_ptr<const WeightSnapshot> weights) {
    workbench.Take(folder, weights);
    return nlohmann::ordered_json();
  };
  return AgentTrain(options, set, listener);
}

ExitCode Prefer(const AgentRlOptions& options, const OptionSet& set, LoopWorkbench& workbench) {
  return AgentRl(options, set, &workbench);
}

// The last run in a program's run.json.
Json LastRun(const fs::path& folder) {
  const Json file = ReadJsonFile(folder / "run.json");
  const Json& runs = file.at("runs");
  if (!runs.is_array() || runs.empty()) throw std::invalid_argument("run.json has no runs");
  return runs.back();
}

std::string OptionOf(const LoopStage& stage, const std::string& flag) {
  const std::string begin = "--" + flag + "=";
  std::string value;
  for (const Secret& argument : stage.arguments) {
    const std::string& text = argument.Reveal();
    if (text.starts_with(begin)) value = text.substr(begin.size());
  }
  return value;
}

Json TreesOf(const LoopStage& stage) {
  const Json run = LastRun(stage.folder / OptionOf(stage, "task") / OptionOf(stage, "model_name"));
  const Json& result = run.at("result");
  return {{"trees", JsonField<int>(result, "finished") + JsonField<int>(result, "already_there")},
          {"failed", result.at("failed").size()}};
}

Json RowsOf(const LoopStage& stage) {
  const Json run =
      ReadJsonFile(stage.folder / fmt::format("{}_{}.run.json", OptionOf(stage, "task"),
                                              OptionOf(stage, "data_type")));
  return {{"rows", run.at("rows")}, {"audit", run.at("audit")}};
}

Json StepsOf(const LoopStage& stage) {
  const Json run = LastRun(stage.folder / OptionOf(stage, "name"));
  return {{"steps", run.at("steps")}};
}

Json IterationsOf(const LoopStage& stage) {
  const Json run = LastRun(stage.folder / OptionOf(stage, "name"));
  return {{"iterations", run.at("iterations")}};
}

Json SummaryOf(const LoopStage& stage) {
  Json summary = ReadJsonFile(EvaluationFolder(stage) / "summary.json");
  summary.erase("options");
  return summary;
}

// A program of the loop: its job, and the figures of a finished stage.
struct LoopProgram {
  std::string_view name;
  ExitCode (*run)(const LoopStage& stage, LoopWorkbench* workbench);
  Json (*result)(const LoopStage& stage);
};

constexpr std::array<LoopProgram, 5> kLoopPrograms = {
    {{kCollects, &RunJob<MctsCollectOptions, &MctsCollect>, &TreesOf},
     {kRevises, &RunJob<PathCollectOptions, &PathCollect>, &RowsOf},
     {kTrains, &RunJob<AgentTrainOptions, &Train>, &StepsOf},
     {kPrefers, &RunJob<AgentRlOptions, &Prefer>, &IterationsOf},
     {kEvaluates, &RunJob<AgentEvalOptions, &AgentEval>, &SummaryOf}}};

const LoopProgram& ProgramOf(const LoopStage& stage) {
  const auto found = std::ranges::find(kLoopPrograms, stage.program, &LoopProgram::name);
  return kLoopPrograms.at(static_cast<size_t>(found - kLoopPrograms.begin()));
}

}  // namespace

ExitCode RunStage(const LoopStage& stage, LoopWorkbench& workbench) {
  return ProgramOf(stage).run(stage, &workbench);
}

void CheckArguments(const LoopStage& stage) { ProgramOf(stage).run(stage, nullptr); }

fs::path EvaluationFolder(const LoopStage& stage) {
  return stage.folder / OptionOf(stage, "task") / (OptionOf(stage, "model_name") + "_local");
}

Json ReadResult(const LoopStage& stage) {
  return ReadingRecord(
      fmt::format("the results of stage {} in {}", stage.name, stage.folder.string()),
      "remove the folder, and run again", [&] { return ProgramOf(stage).result(stage); });
}

}  // namespace agentr
