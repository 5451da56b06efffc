#include "rl/worlds/echo_batch.h"

#include <fmt/format.h>

namespace agentr {

EchoBatch::EchoBatch(const EchoOptions& options) : options_(options), steps_(options.size) {
  for (int i = 0; i < options.digits; ++i) texts_.push_back(fmt::format("g{}", i));
  legal_.assign(texts_.begin(), texts_.end());
  const RandomStream streams(options.seed);
  for (size_t i = 0; i < options.size; ++i) Begin(slots_.emplace_back(Slot{streams.Split(i)}));
}

void EchoBatch::Begin(Slot& slot) const {
  slot.turn = slot.right = 0;
  slot.history.clear();
  Draw(slot);
}

void EchoBatch::Draw(Slot& slot) const {
  slot.digit = slot.random.Below(static_cast<uint64_t>(options_.digits));
  slot.history += fmt::format("{}", slot.digit);
}

BatchStep EchoBatch::StepSlot(Slot& slot, std::string_view action) const {
  const bool right = action == legal_[slot.digit];
  ++slot.turn;
  slot.right += right ? 1 : 0;
  slot.history += fmt::format(" {} {} ", action, right ? '+' : '-');
  const bool won = slot.right == options_.wins, done = won || slot.turn == options_.horizon;
  if (right && !done) {
    Draw(slot);
  } else {
    slot.history += fmt::format("{}", slot.digit);
  }
  const double share = static_cast<double>(slot.turn) / options_.horizon;
  const double reward = options_.listed ? (won ? 1 - 0.9 * share : 0.0) : (won ? 0.0 : -1.0);
  if (!done) return {slot.history, reward, false, false};
  std::swap(slot.last, slot.history);
  Begin(slot);
  return {slot.last, reward, true, !won};
}

std::span<const BatchStep> EchoBatch::Step(std::span<const std::string_view> actions) {
  for (size_t i = 0; i < slots_.size(); ++i) steps_[i] = StepSlot(slots_[i], actions[i]);
  return steps_;
}

}  // namespace agentr
