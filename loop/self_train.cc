#include "loop/self_train.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "common/file.h"
#include "common/fingerprint.h"
#include "common/options.h"
#include "common/run_file.h"
#include "lm/model_folder.h"
#include "loop/loop_programs.h"
#include "loop/loop_record.h"
#include "loop/loop_table.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// True for an argument that names rows or preferences to learn from.
bool NamesRows(const std::string& argument) {
  return argument.starts_with("--data=") || argument.starts_with("--pairs=");
}

bool Learns(const LoopStage& stage) {
  return stage.program == kTrains || stage.program == kPrefers;
}

// Leaves out the loop's own files without rows or preferences, because a training cannot read them;
// a search may find nothing to revise.
LoopStage WithoutEmptyFiles(LoopStage stage, const fs::path& loop_folder) {
  std::erase_if(stage.arguments, [&](const Secret& given) {
    const std::string& argument = given.Reveal();
    if (!NamesRows(argument)) return false;
    std::string path = argument.substr(argument.find('=') + 1);
    if (!fs::exists(path)) path = path.substr(0, path.find_last_of(':'));
    const bool own = path.starts_with((loop_folder / "").string());
    if (!own || !fs::exists(path) || fs::file_size(path) > 0) return false;
    spdlog::warn("{}: {} has no rows and is left out", stage.name, path);
    return true;
  });
  for (const Secret& argument : stage.arguments) {
    if (NamesRows(argument.Reveal())) return stage;
  }
  throw FatalError(
      ExitCode::kIncomplete,
      fmt::format("stage {} has nothing to train on: {}", stage.name,
                  stage.program == kPrefers
                      ? "no row corrects a refused step. Usual cures: more tasks or iterations in "
                        "--collect, or --prefer_steps 0"
                      : "the search found no path that is good enough. Usual cures: more tasks or "
                        "iterations in --collect, a lower --alpha, a start model that solves some "
                        "tasks"));
}

// What the trainings must know of the program's model options.
SelfTrainOptions WithModelOptions(SelfTrainOptions options, const OptionSet& resolved) {
  const nlohmann::ordered_json& all = resolved.ResolvedJson();
  options.chat_template = all.at("chat_template").get<std::string>();
  options.chat_kwargs = all.at("chat_kwargs").get<std::string>();
  options.base_model = all.at("base_model").get<std::string>();
  return options;
}

// The model options that determine what the models answer.
nlohmann::ordered_json ModelOptionsOf(const OptionSet& resolved) {
  const nlohmann::ordered_json all = resolved.Fingerprint();
  const nlohmann::ordered_json names = FingerprintOf(ModelFolderOptions());
  auto own = nlohmann::ordered_json::object();
  for (const auto& [name, standard] : names.items()) own[name] = all.at(name);
  return own;
}

}  // namespace

ExitCode SelfTrain(const SelfTrainOptions& asked, const OptionSet& resolved, Workbench& workbench) {
  const SelfTrainOptions options = WithModelOptions(asked, resolved);
  Check(options);
  const std::vector<LoopStage> plan = PlanLoop(options);
  for (const LoopStage& stage : plan) CheckArguments(stage);
  const fs::path folder = LoopFolder(options);
  const FileLock lock(folder / ".lock", FileLock::IfLocked::kRefuse);
  LoopRecord record(folder);
  record.SetModelOptions(ModelOptionsOf(resolved));
  std::vector<LoopStage> left;
  for (const LoopStage& stage : plan) {
    if (!record.Has(stage)) left.push_back(stage);
  }
  // Not before the record has been accepted: its options are in the present file.
  WriteResolved(folder, resolved.ResolvedToml());
  LoopWorkbench bench(workbench, options.base_model.empty() ? "" : options.model_dir,
                      options.base_model);
  for (const LoopStage& stage : left) {
    fmt::print("\n== {}: {} {}\n", stage.name, stage.program,
               fmt::join(Redacted(stage.arguments), " "));
    std::fflush(stdout);
    const auto begin = std::chrono::steady_clock::now();
    const ExitCode exit = RunStage(Learns(stage) ? WithoutEmptyFiles(stage, folder) : stage, bench);
    if (exit == ExitCode::kIncomplete) {
      spdlog::warn("stage {} left out some tasks; the loop continues with the others", stage.name);
    } else if (exit != ExitCode::kOk) {
      return exit;
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    record.Add(stage, wall.count(), ReadResult(stage));
    if (stage.program != kEvaluates) continue;
    const std::string table = LoopTable(plan, record);
    WriteFileAtomically(folder / "table.txt", table);
    fmt::print("\n{}", table);
  }
  fmt::print("\n{}\n{}\n", LoopTable(plan, record), folder.string());
  return ExitCode::kOk;
}

}  // namespace agentr
