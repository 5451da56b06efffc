#include "loop/training_plays.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "common/options.h"
#include "lm/export_model.h"
#include "loop/loop_programs.h"
#include "training/model/weight_snapshot.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;

class Plays {
 public:
  Plays(const AgentTrainOptions& train, const TrainingPlayOptions& options, Workbench& workbench)
      : train_(train), options_(options), workbench_(workbench) {
    CheckArguments(StageAt(0));
  }

  nlohmann::ordered_json Play(int64_t step, const std::shared_ptr<const WeightSnapshot>& weights) {
    // The first time the model must be opened from a folder, but the start model of --from_scratch
    // has none.
    if (!opened_) ExportModel(ModelFolder(), Found(train_.start).dir, *weights);
    opened_ = true;
    workbench_.Take(ModelFolder().string(), weights);
    const LoopStage stage = StageAt(step);
    // A killed run left episodes of weights that may differ in their last bits from the current
    // ones.
    fs::remove_all(stage.folder);
    const ExitCode exit = RunStage(stage, workbench_);
    if (exit != ExitCode::kOk) {
      spdlog::warn("step {}: not all tasks were played; see {}", step, stage.folder.string());
      return {};
    }
    const nlohmann::ordered_json summary = ReadResult(stage);
    const double steps = summary.value("steps", 0.0);
    return {{"success", summary.at("success").at("mean")},
            {"reward", summary.at("reward").at("mean")},
            {"refused_steps", steps > 0 ? summary.value("refused_steps", 0.0) / steps : 0.0}};
  }

 private:
  fs::path ModelFolder() const { return TrainFolder(train_) / "plays" / "first_model"; }

  LoopStage StageAt(int64_t step) const {
    LoopStage stage;
    stage.name = fmt::format("plays/step_{:08}", step);
    stage.program = kEvaluates;
    stage.folder = TrainFolder(train_) / stage.name;
    stage.arguments = {"--output_dir=" + stage.folder.string(), "--task=textcraft", "--max=20",
                       "--model_dir=" + ModelFolder().string(), "--model_name=model"};
    AddArguments(stage, options_.play);
    return stage;
  }

  const AgentTrainOptions& train_;
  const TrainingPlayOptions& options_;
  LoopWorkbench workbench_;
  bool opened_ = false;
};

}  // namespace

void Declare(OptionSet& set, TrainingPlayOptions& o) {
  set.Group("Plays");
  set.Add("--play_every", o.every,
          "Steps between evaluations as an agent with the present weights, on the first 20 test "
          "tasks of TextCraft or with the options of --play; 0: never")
      .Min(0)
      .OnlyOutput();
  set.AddArguments("--play", o.play,
                   "An argument of agent_eval for these evaluations, such as --play=--task=webshop "
                   "(repeatable)")
      .OnlyOutput();
}

ExitCode AgentTrainWithPlays(const AgentTrainOptions& options, const TrainingPlayOptions& plays,
                             const OptionSet& resolved, Workbench& workbench) {
  if (plays.every == 0) return AgentTrain(options, resolved);
  Plays player(options, plays, workbench);
  WeightsListener listener;
  listener.every = plays.every;
  listener.show = [&](int64_t step, const std::shared_ptr<const WeightSnapshot>& weights) {
    return player.Play(step, weights);
  };
  return AgentTrain(options, resolved, listener);
}

}  // namespace agentr
