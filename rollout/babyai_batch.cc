#include "rollout/babyai_batch.h"

#include <algorithm>
#include <utility>

namespace agentr {

BabyAiBatch::BabyAiBatch(const BabyAiBatchOptions& options)
    : reference_(options.reference), steps_(options.size) {
  const BabyAiLevel& level = BabyAiLevelOf(options.level);
  slots_.reserve(options.size);
  for (size_t i = 0; i < options.size; ++i) {
    const BabyAiTask task =
        options.task.empty() ? level.tasks[i % level.tasks.size()] : BabyAiTaskOf(options.task);
    Slot& slot = slots_.emplace_back(Slot{BabyAiEpisodes(level, task, 100 * options.seed + i)});
    slot.goal = slot.game.mission();
    Observe(slot);
  }
}

void BabyAiBatch::Observe(Slot& slot) const {
  slot.observation.clear();
  AppendDescription(slot.game.View(), reference_, ", ", slot.observation);
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
