// Plays a World with an Actor and records every transition.
//
// The environments go on from one call to the next. Their state is a function of the seed and the
// actions, so a continued run replays the recorded actions instead of saving it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "rl/policies/actor.h"
#include "rl/policies/policy_model.h"
#include "rl/transition_store.h"

namespace agentr {

// Results of finished episodes.
struct PlayResult {
  int64_t steps = 0;
  int64_t episodes = 0;
  int64_t wins = 0;   // World::Won
  double total = 0;   // sum of returns
  double length = 0;  // sum of numbers of steps

  // Of the choices of a policy; only Recorder::Play counts them.
  int64_t written = 0;     // actions that it wrote freely
  int64_t unreadable = 0;  // of these, blank ones and those that do not end
  int64_t choices = 0;     // of a token, or of a listed action
  double logprob = 0;      // sum over the choices: its mean estimates the negative of the entropy

  void Count(const Choice& choice);
  nlohmann::ordered_json ToJson() const;
};

class Recorder {
 public:
  // All outlive it. `policy` makes the prompts; null: they are empty.
  // The transitions in `store` are those of this world from its beginning.
  // Throws FatalError(kFile) if they are not: another version of the environment.
  Recorder(World& world, const PolicyModel* policy, TransitionStore& store);

  // Takes `steps` steps in every environment. Step t of iteration i draws from random.Split(t).
  PlayResult Play(Actor& actor, int steps, const RandomStream& random);

  // Time spent in Play so far.
  double seconds() const { return seconds_; }

  // The token ids of the current prompts, one per slot.
  const std::vector<std::vector<int32_t>>& prompts() const { return prompts_; }

 private:
  void Replay();
  void Take(std::span<const Choice> choices, int64_t version, PlayResult* result);

  World& world_;
  const PolicyModel* const policy_;
  TransitionStore& store_;
  std::vector<std::vector<int32_t>> prompts_;
  std::vector<int64_t> episode_;  // by slot
  std::vector<int32_t> step_;
  std::vector<double> total_;
  int64_t episodes_ = 0;  // begun
  double seconds_ = 0;
};

// Plays whole episodes in a new world, the same number in each slot, at least `episodes` in all.
PlayResult PlayEpisodes(World& world, const PolicyModel* policy, Actor& actor, int episodes,
                        const RandomStream& random);

}  // namespace agentr
