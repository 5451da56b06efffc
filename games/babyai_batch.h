// BabyAI-Text as a BatchEnvironment. Observations are the descriptions alone, joined by ", ", as in
// the prompts of Carta et al. (2023); the embedded server adds the goal and the actions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "games/babyai/babyai_episodes.h"
#include "games/batch_environment.h"

namespace agentr {

struct BabyAiBatchOptions {
  size_t size = 32;
  std::string level = "MixedTrainLocal";
  std::string task = "";   // empty: the level's tasks take turns over the slots
  int distractors = 0;     // objects that lie about; 0: as the level has them
  uint64_t seed = 0;       // slot i gets 100 * seed + i, as in the original's training
  bool reference = false;  // "You see a open red door"
};

class BabyAiBatch : public BatchEnvironment {
 public:
  // Throws FatalError(kUsage) for an unknown level or task, and for so few distractors that there
  // is no mission, or so many that they have no place.
  explicit BabyAiBatch(const BabyAiBatchOptions& options);

  size_t size() const override { return slots_.size(); }
  std::span<const std::string_view> actions() const override { return BabyAiActionTexts(); }
  std::string_view Goal(size_t slot) const override { return slots_[slot].goal; }
  std::string_view Observation(size_t slot) const override { return slots_[slot].observation; }
  std::span<const BatchStep> Step(std::span<const std::string_view> actions) override;

  const BabyAiEpisodes& game(size_t slot) const { return slots_[slot].game; }

 private:
  struct Slot {
    BabyAiEpisodes game;
    std::string goal = {};
    std::string observation = {};
    std::string last = {};  // the last observation of the episode before
  };

  void Observe(Slot& slot) const;
  BatchStep StepSlot(Slot& slot, std::string_view action) const;

  bool reference_;
  std::unique_ptr<const BabyAiLevel> level_;  // of all slots
  std::vector<Slot> slots_;
  std::vector<BatchStep> steps_;
};

}  // namespace agentr
