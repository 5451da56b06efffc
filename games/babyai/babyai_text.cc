#include "games/babyai/babyai_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"
#include "common/hash.h"
#include "common/options.h"

namespace agentr {
namespace {

constexpr std::string_view kGoal = "Your goal: ";
constexpr uint64_t kFirstTestSeed = 1'000'000'000;

const std::string& OfferedActions() {
  static const std::string text =
      fmt::format("\nAvailable actions: [\"{}\"]", fmt::join(BabyAiActionTexts(), "\", \""));
  return text;
}

}  // namespace

void Declare(OptionSet& set, BabyAiOptions& options) {
  set.Group("BabyAI");
  set.Add("--babyai_level", options.level,
          "Level of all tasks, such as GoToLocal (default: MixedTrainLocal for the tasks below "
          "10000, MixedTestLocal from there on)");
  set.Add("--babyai_task", options.task,
          "Kind of all missions: goto, pickup, open, putnext, seq (default: they take turns)");
}

BabyAiText::BabyAiText(const BabyAiOptions& options) : reference_(options.reference) {
  if (!options.level.empty()) level_ = &BabyAiLevelOf(options.level);
  if (options.task.empty()) return;
  task_ = BabyAiTaskOf(options.task);
  if (level_ == nullptr || std::ranges::find(level_->tasks, *task_) != level_->tasks.end()) return;
  throw FatalError(ExitCode::kUsage, fmt::format("--babyai_task: {} has no missions of the kind {}",
                                                 level_->name, options.task));
}

std::optional<BabyAiTextState> BabyAiText::Start(int64_t data_idx) const {
  if (data_idx < 0 || data_idx >= task_count()) return std::nullopt;
  const bool test = data_idx >= kTrainTasks;
  static const BabyAiLevel& train_level = BabyAiLevelOf("MixedTrainLocal");
  static const BabyAiLevel& test_level = BabyAiLevelOf("MixedTestLocal");
  const BabyAiLevel& level = level_ != nullptr ? *level_ : test ? test_level : train_level;
  const auto index = static_cast<uint64_t>(test ? data_idx - kTrainTasks : data_idx);
  const BabyAiTask task = task_ ? *task_ : level.tasks[index % level.tasks.size()];
  BabyAiTextState state{BabyAiEpisodes(level, task, index + (test ? kFirstTestSeed : 0))};
  state.observation = Observe(state.game);
  state.observation = WithGoal(state);
  return state;
}

std::string BabyAiText::WithGoal(const BabyAiTextState& state) {
  if (state.observation.starts_with(kGoal)) return state.observation;
  return fmt::format("{}{}\n{}", kGoal, state.game.mission(), state.observation);
}

std::string BabyAiText::Observe(const BabyAiEpisodes& game) const {
  std::string text;
  AppendDescription(game.View(), reference_, text);
  if (text.empty()) text = "You see nothing";
  return text + OfferedActions();
}

void BabyAiText::Step(BabyAiTextState& state, std::string_view action) const {
  state.reward = 0;
  const auto texts = BabyAiActionTexts();
  const auto at = std::ranges::find(texts, action);
  if (at != texts.end()) {
    state.reward = state.game.Step(static_cast<BabyAiAction>(at - texts.begin()));
    state.score += state.reward;
    state.observation = Observe(state.game);
  } else if (action.find("check") != std::string_view::npos) {
    state.observation = fmt::format("You can take the following actions: {}{}",
                                    fmt::join(texts, ", "), OfferedActions());
  } else {
    state.observation =
        "The action is not recognized. Please check valid actions." + OfferedActions();
  }
}

std::string BabyAiText::DataHash() const {
  std::string text = fmt::format("tasks={}\n", task_count());
  constexpr int kShown = 20;
  for (int i = 0; i < kShown; ++i) text += Start(i)->observation + '\n';
  if (level_ == nullptr) text += Start(kTrainTasks)->observation;
  return Sha256(text);
}

}  // namespace agentr
