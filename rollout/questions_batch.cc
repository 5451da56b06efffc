#include "rollout/questions_batch.h"

#include <utility>

namespace agentr {

QuestionsBatch::QuestionsBatch(const QuestionsBatchOptions& options)
    : game_(options.reference), steps_(options.size) {
  const RandomStream streams(options.seed);
  for (size_t i = 0; i < options.size; ++i) {
    Slot& slot = slots_.emplace_back(Slot{streams.Split(i), {}, {}});
    slot.state = Draw(slot.random);
  }
}

TwentyQuestionsState QuestionsBatch::Draw(RandomStream& random) const {
  const auto count = static_cast<uint64_t>(game_.task_count());
  return *game_.Start(static_cast<int64_t>(random.Below(count)));
}

std::span<const BatchStep> QuestionsBatch::Step(std::span<const std::string_view> actions) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    // The built-in oracle always answers.
    const int reward = game_.Step(slot.state, actions[i]).value();
    const bool done = slot.state.done();
    const bool truncated = done && !slot.state.game.won;
    if (done) slot.last = std::exchange(slot.state, Draw(slot.random));
    steps_[i] = {done ? slot.last.game.history : slot.state.game.history,
                 static_cast<double>(reward), done, truncated};
  }
  return steps_;
}

}  // namespace agentr
