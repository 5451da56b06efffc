// BabyAI-Text as a World, with GLAM's prompt (Carta et al. 2023): the possible actions, the goal,
// and the last three observations with the two actions between them.
//
// The reference writes " \n " at each line's end; so does this. It clears its history at the end of
// an episode and, in DRRN, forgets the new episode's first observation; here it is there.
#pragma once

#include <deque>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "games/babyai_batch.h"
#include "rl/worlds/world.h"
#include "tasks/babyai/babyai_bot.h"

namespace agentr {

class BabyAiWorldBatch : public World {
 public:
  explicit BabyAiWorldBatch(const BabyAiBatchOptions& options);

  std::string Prompt(size_t slot) const override;
  std::span<const BatchStep> Step(std::span<const std::string_view> actions) override;
  std::string Expert(size_t slot) const override;
  std::string AnyAction(size_t slot, RandomStream& random) const override;

  const BatchEnvironment& environment() const override { return batch_; }

 private:
  struct Memory {
    std::deque<std::string> observations, actions;  // the last ones; of actions one less
    std::list<std::string> texts = {};              // of the episode: the scene points into them
    std::optional<BabyAiScene> scene = {};
  };
  void Begin(size_t slot);

  BabyAiBatch batch_;
  std::vector<Memory> memories_;
};

}  // namespace agentr
