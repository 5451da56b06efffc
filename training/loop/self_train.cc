#include "training/loop/self_train.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "common/file.h"
#include "common/options.h"
#include "common/run_file.h"
#include "eval/agent_eval.h"
#include "lm/local_language_model.h"
#include "lm/weights/safetensors.h"
#include "mcts/mcts_collect.h"
#include "revision/path_collect.h"
#include "training/agent_train.h"
#include "training/loop/loop_record.h"
#include "training/loop/loop_table.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// A model that somebody else owns.
class BorrowedModel : public LanguageModel {
 public:
  explicit BorrowedModel(LanguageModel& model) : model_(model) {}

  std::string name() const override { return model_.name(); }
  std::string identity() const override { return model_.identity(); }
  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override {
    return model_.Complete(prompt, n, sampling);
  }
  Result<PreparedPrompt> Prepare(std::vector<Message> conversation,
                                 SampledIds sampled) const override {
    return model_.Prepare(std::move(conversation), sampled);
  }
  Result<CompletionBatch> CompletePrepared(const PreparedPrompt& prompt, int n,
                                           const SamplingParams& sampling) override {
    return model_.CompletePrepared(prompt, n, sampling);
  }

 private:
  LanguageModel& model_;
};

// Keeps one model in memory from stage to stage. A model of the same shape is not opened again:
// the engine takes its weights over.
class LoopWorkbench : public Workbench {
 public:
  explicit LoopWorkbench(Workbench& inner) : inner_(inner) {}

  std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) override {
    return inner_.OpenEnvironment(options);
  }
  std::unique_ptr<ChatEncoder> OpenEncoder(const std::string& model_dir) override {
    return inner_.OpenEncoder(model_dir);
  }
  std::unique_ptr<LanguageModel> OpenModel(const ModelOptions& options, const TaskFamily& family,
                                           const EnvironmentOptions& environment) override {
    if (options.dir.empty()) return inner_.OpenModel(options, family, environment);
    if (model_ == nullptr) {
      model_ = inner_.OpenModel(options, family, environment);
    } else if (options.dir != folder_) {
      TakeWeightsOf(options.dir);
    }
    folder_ = options.dir;
    return std::make_unique<BorrowedModel>(*model_);
  }

 private:
  void TakeWeightsOf(const std::string& folder) {
    auto& model = dynamic_cast<LocalLanguageModel&>(*model_);
    const auto version = model.Load(std::make_shared<WeightFiles>(folder));
    if (!version) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("the weights in {} cannot follow those in {}: {}", folder,
                                   folder_, version.error().message));
    }
  }

  Workbench& inner_;
  std::unique_ptr<LanguageModel> model_;
  std::string folder_;  // whose weights it has
};

// Reads the stage's arguments as its program would. Where `workbench` is given, also does the
// program's job: job(options, set, *workbench).
template <typename Options, typename Job>
ExitCode RunJob(const LoopStage& stage, Workbench* workbench, Job job) {
  Options options;
  OptionSet set(stage.program, "");
  Declare(set, options);
  std::vector<const char*> argv = {stage.program.c_str()};
  for (const std::string& argument : stage.arguments) argv.push_back(argument.c_str());
  if (set.Parse(static_cast<int>(argv.size()), argv.data())) {
    throw FatalError(ExitCode::kUsage, fmt::format("stage {} has a bad argument: {} {}", stage.name,
                                                   stage.program, fmt::join(stage.arguments, " ")));
  }
  return workbench == nullptr ? ExitCode::kOk : job(options, set, *workbench);
}

// Without a workbench the arguments are only checked.
ExitCode RunStage(const LoopStage& stage, Workbench* workbench) {
  if (stage.program == "mcts_collect") {
    return RunJob<MctsCollectOptions>(stage, workbench, MctsCollect);
  }
  if (stage.program == "path_collect") {
    return RunJob<PathCollectOptions>(stage, workbench, PathCollect);
  }
  if (stage.program == "agent_eval") return RunJob<AgentEvalOptions>(stage, workbench, AgentEval);
  return RunJob<AgentTrainOptions>(
      stage, workbench, [](const AgentTrainOptions& options, const OptionSet& set, Workbench&) {
        return AgentTrain(options, set);
      });
}

// A training cannot read a file without rows: leaves such files out.
LoopStage WithoutEmptyFiles(LoopStage stage) {
  std::erase_if(stage.arguments, [&](const std::string& argument) {
    constexpr std::string_view kData = "--data=";
    if (!argument.starts_with(kData)) return false;
    std::string path = argument.substr(kData.size());
    if (!fs::exists(path)) path = path.substr(0, path.find_last_of(':'));
    if (!fs::exists(path) || fs::file_size(path) > 0) return false;
    spdlog::warn("{}: {} has no rows and is left out", stage.name, path);
    return true;
  });
  for (const std::string& argument : stage.arguments) {
    if (argument.starts_with("--data=")) return stage;
  }
  throw FatalError(ExitCode::kIncomplete,
                   fmt::format("stage {} has nothing to train on: the search found no path that is "
                               "good enough. Usual cures: more tasks or iterations in --collect, a "
                               "lower --alpha, a start model that solves some tasks",
                               stage.name));
}

}  // namespace

ExitCode SelfTrain(const SelfTrainOptions& options, const OptionSet& resolved,
                   Workbench& workbench) {
  Check(options);
  const std::vector<LoopStage> plan = PlanLoop(options);
  for (const LoopStage& stage : plan) RunStage(stage, nullptr);
  const fs::path folder = LoopFolder(options);
  std::error_code none;  // what fails here is named by the first file that is written
  fs::create_directories(folder, none);
  WriteResolved(folder, resolved.ResolvedToml());
  const FileLock lock(folder / ".lock");
  LoopRecord record(folder);
  LoopWorkbench bench(workbench);
  for (const LoopStage& stage : plan) {
    if (record.Has(stage)) continue;
    fmt::print("\n== {}: {} {}\n", stage.name, stage.program, fmt::join(stage.arguments, " "));
    const auto begin = std::chrono::steady_clock::now();
    const ExitCode exit =
        RunStage(stage.program == "agent_train" ? WithoutEmptyFiles(stage) : stage, &bench);
    if (exit == ExitCode::kIncomplete) {
      spdlog::warn("stage {} left some tasks out; the loop goes on with the others", stage.name);
    } else if (exit != ExitCode::kOk) {
      return exit;
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    record.Add(stage, wall.count(), ReadResult(stage));
    if (stage.program != "agent_eval") continue;
    const std::string table = LoopTable(plan, record);
    WriteFileAtomically(folder / "table.txt", table);
    fmt::print("\n{}", table);
  }
  fmt::print("\n{}\n{}\n", LoopTable(plan, record), folder.string());
  return ExitCode::kOk;
}

}  // namespace agentr
