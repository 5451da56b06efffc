#include "games/babyai_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/error.h"

namespace agentr {
namespace {

// A mission may name two objects; a world has room for eleven, with a door and its key.
constexpr int kFewest = 2, kMost = 9;

std::unique_ptr<const BabyAiLevel> LevelOf(const BabyAiBatchOptions& options) {
  auto level = std::make_unique<BabyAiLevel>(BabyAiLevelOf(options.level));
  if (options.distractors == 0) return level;
  if (options.distractors < kFewest || options.distractors > kMost) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--distractors {}: there can be {} to {}, or 0 for as many as the "
                                 "level has",
                                 options.distractors, kFewest, kMost));
  }
  level->distractors = options.distractors;
  return level;
}

}  // namespace

BabyAiBatch::BabyAiBatch(const BabyAiBatchOptions& options)
    : reference_(options.reference), level_(LevelOf(options)), steps_(options.size) {
  slots_.reserve(options.size);
  for (size_t i = 0; i < options.size; ++i) {
    const BabyAiTask task =
        options.task.empty() ? level_->tasks[i % level_->tasks.size()] : BabyAiTaskOf(options.task);
    Slot& slot = slots_.emplace_back(Slot{BabyAiEpisodes(*level_, task, 100 * options.seed + i)});
    slot.goal = slot.game.mission();
    Observe(slot);
  }
}

void BabyAiBatch::Observe(Slot& slot) const {
  slot.observation.clear();
  AppendDescription(slot.game.View(), reference_, slot.observation);
}

BatchStep BabyAiBatch::StepSlot(Slot& slot, std::string_view action) const {
  const auto texts = BabyAiActionTexts();
  const auto at = std::ranges::find(texts, action);
  if (at == texts.end()) return {};
  const double reward = slot.game.Step(static_cast<BabyAiAction>(at - texts.begin()));
  Observe(slot);
  if (!slot.game.done()) return {slot.observation, reward, false, false};
  const bool truncated = slot.game.truncated();
  std::swap(slot.last, slot.observation);
  slot.game.Next();
  slot.goal = slot.game.mission();
  Observe(slot);
  return {slot.last, reward, true, truncated};
}

std::span<const BatchStep> BabyAiBatch::Step(std::span<const std::string_view> actions) {
  for (size_t i = 0; i < slots_.size(); ++i) steps_[i] = StepSlot(slots_[i], actions[i]);
  return steps_;
}

}  // namespace agentr
