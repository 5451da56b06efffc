// Players: what chooses the actions of all environments of a World at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/random.h"
#include "rl/transition.h"
#include "rl/worlds/world.h"

namespace agentr {

class Actor {
 public:
  virtual ~Actor() = default;

  // One action for each slot, whose prompts have the token ids `prompts`. Slot i draws from
  // random.Split(i).
  virtual std::vector<Choice> Act(const World& world, std::span<const std::vector<int32_t>> prompts,
                                  const RandomStream& random) = 0;

  // Of the weights that act; -1: none do.
  virtual int64_t weights_version() const { return -1; }
};

// The world's scripted players. `noise`: the share of actions that are any legal ones; 1: all are.
class ScriptedActor : public Actor {
 public:
  explicit ScriptedActor(double noise) : noise_(noise) {}

  std::vector<Choice> Act(const World& world, std::span<const std::vector<int32_t>> prompts,
                          const RandomStream& random) override;

 private:
  const double noise_;
};

}  // namespace agentr
