// Twenty Questions as a BatchEnvironment, with the rewards of the paper: -1 for each question that
// does not win. Observations are whole histories ("Questions:\n…"), as ArCHer shows them.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random.h"
#include "rollout/batch_environment.h"
#include "servers/questions/twenty_questions.h"

namespace agentr {

struct QuestionsBatchOptions {
  size_t size = 32;
  uint64_t seed = 0;       // slot i draws its objects from RandomStream(seed).Split(i)
  bool reference = false;  // wins by the last word, and every text is a question
};

class QuestionsBatch : public BatchEnvironment {
 public:
  explicit QuestionsBatch(const QuestionsBatchOptions& options);

  size_t size() const override { return slots_.size(); }
  std::span<const std::string_view> actions() const override { return {}; }
  std::string_view Goal(size_t /*slot*/) const override { return "find the object"; }
  std::string_view Observation(size_t slot) const override {
    return slots_[slot].state.game.history;
  }
  // A text that is no question (see TwentyQuestions::Step) costs nothing, with the reward 0.
  std::span<const BatchStep> Step(std::span<const std::string_view> actions) override;

  // The object of the slot's game.
  size_t word(size_t slot) const { return slots_[slot].state.word; }

 private:
  struct Slot {
    RandomStream random;
    TwentyQuestionsState state;
    TwentyQuestionsState last;  // of the game that ended
  };

  TwentyQuestionsState Draw(RandomStream& random) const;

  TwentyQuestions game_;
  std::vector<Slot> slots_;
  std::vector<BatchStep> steps_;
};

}  // namespace agentr
