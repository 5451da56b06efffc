#include "loop/stage_jobs.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/options.h"
#include "eval/agent_eval.h"
#include "mcts/mcts_collect.h"
#include "revision/path_collect.h"
#include "training/agent_train.h"
#include "training/model/weight_snapshot.h"

namespace agentr {
namespace {

template <typename Options>
void CheckForLoop(const Options& /*options*/) {}

// More processes would be started as copies of the program that runs the loop.
void CheckForLoop(const AgentTrainOptions& options) {
  if (options.distributed.processes <= 1) return;
  throw FatalError(ExitCode::kUsage,
                   "--processes: in self_train the trainings run in its own process; train with "
                   "agent_train --processes, or leave the option out");
}

void CheckForLoop(const PathCollectOptions& options) {
  if (options.audit.empty() && options.store.url.empty() &&
      options.revise.data_type != "preferences") {
    return;
  }
  throw FatalError(ExitCode::kUsage,
                   "--audit, --store and --data_type preferences: self_train learns from rows of "
                   "trees in its own folder; use path_collect itself for these");
}

// Calls job(options, set, *workbench); without a workbench the arguments are only read.
template <typename Options, typename Job>
ExitCode RunJob(const LoopStage& stage, LoopWorkbench* workbench, Job job) {
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

ExitCode Run(const LoopStage& stage, LoopWorkbench* workbench) {
  if (stage.program == "mcts_collect") {
    return RunJob<MctsCollectOptions>(stage, workbench, MctsCollect);
  }
  if (stage.program == "path_collect") {
    return RunJob<PathCollectOptions>(stage, workbench, PathCollect);
  }
  if (stage.program == "agent_eval") return RunJob<AgentEvalOptions>(stage, workbench, AgentEval);
  return RunJob<AgentTrainOptions>(stage, workbench, Train);
}

}  // namespace

ExitCode RunStage(const LoopStage& stage, LoopWorkbench& workbench) {
  return Run(stage, &workbench);
}

void CheckArguments(const LoopStage& stage) { Run(stage, nullptr); }

}  // namespace agentr
