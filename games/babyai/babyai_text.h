// BabyAI-Text as an environment of tasks and texts: numbered tasks, observations in AgentGym's
// form, actions as texts.
//
// Without a level in the options, the tasks 0 … 9999 are those of BabyAI-MixedTrainLocal with the
// seeds 0 …, and the tasks 10000 … 10199 are those of BabyAI-MixedTestLocal, whose missions name
// other pairs of colour and type, with the seeds 10^9 … of the paper's tests. With a level, the
// tasks 0 … 9999 are its own. The kinds of missions take turns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "games/babyai/babyai_episodes.h"

namespace agentr {

class OptionSet;

struct BabyAiOptions {
  std::string level = "";  // "MixedTestLocal"; empty: training and test tasks as above
  std::string task = "";   // "goto", "pickup", "open", "putnext", "seq"; empty: they take turns
  bool reference = false;  // texts as the original writes them: "You see a open red door"
};

void Declare(OptionSet& set, BabyAiOptions& options);

// One session.
struct BabyAiTextState {
  BabyAiEpisodes game;
  std::string observation = {};
  double reward = 0;  // of the last step
  double score = 0;   // the sum of rewards

  bool done() const { return game.done(); }
};

// Immutable after construction, so any number of threads may play.
class BabyAiText {
 public:
  using State = BabyAiTextState;
  static constexpr std::string_view kTask = "babyai";
  static constexpr std::string_view kTitle = "BabyAI";
  static constexpr int kTrainTasks = 10000;
  static constexpr int kTestTasks = 200;

  // Throws FatalError(kUsage) for an unknown level or task, or one that the level does not have.
  explicit BabyAiText(const BabyAiOptions& options);

  int64_t task_count() const { return kTrainTasks + (level_ == nullptr ? kTestTasks : 0); }

  // The episode of a task; nullopt if there is no such task.
  std::optional<BabyAiTextState> Start(int64_t data_idx) const;

  // One of the texts of BabyAiActionTexts() is taken; a text with "check" in it is answered with
  // the list of them, and others are refused: these two cost no step. Only while
  // !state.game.done().
  void Step(BabyAiTextState& state, std::string_view action) const;

  // The observation with the goal before it, as at the beginning.
  static std::string WithGoal(const BabyAiTextState& state);

  // SHA-256 of the options and of some layouts: other layouts give another hash.
  std::string DataHash() const;

 private:
  std::string Observe(const BabyAiEpisodes& game) const;

  const BabyAiLevel* level_ = nullptr;
  std::optional<BabyAiTask> task_;
  bool reference_ = false;
};

}  // namespace agentr
