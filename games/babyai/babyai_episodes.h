// BabyAI-Text as a value: the episodes that one seeded stream gives, one after the other.
//
//   BabyAiEpisodes game(BabyAiLevelOf("GoToLocal"), BabyAiTask::kGoTo, /*seed=*/11);
//   game.mission();                               // "go to the grey key"
//   game.Step(BabyAiAction::kForward);            // … until game.done()
//   game.Next();                                  // the next layout of the same stream
//
// The task is fixed per object. The original draws it without a seed when an environment is made,
// which cannot be repeated.
#pragma once

#include <string>

#include "common/pcg64.h"
#include "games/babyai/babyai_layout.h"
#include "games/babyai/babyai_view.h"

namespace agentr {

// A copy is a fork: both go on alike with the same actions.
class BabyAiEpisodes {
 public:
  BabyAiEpisodes(const BabyAiLevel& level, BabyAiTask task, uint64_t seed);

  // Begins the next episode.
  void Next();

  // Takes one action. Returns the reward: 1 - 0.9 * steps / horizon when it completes the mission
  // (the last step allowed counts), otherwise 0. Only while !done().
  double Step(BabyAiAction action);

  std::string mission() const { return mission_.Text(); }
  BabyAiView View() const { return BabyAiView(world_); }
  int steps() const { return steps_; }
  int horizon() const { return horizon_; }
  bool done() const { return solved_ || truncated(); }
  bool solved() const { return solved_; }
  // Ended by the horizon.
  bool truncated() const { return !solved_ && steps_ >= horizon_; }

  const BabyAiWorld& world() const { return world_; }

  bool operator==(const BabyAiEpisodes&) const = default;

 private:
  const BabyAiLevel* level_;
  BabyAiTask task_;
  Pcg64 random_;
  BabyAiWorld world_;
  BabyAiMission mission_;
  int horizon_ = 0;
  int steps_ = 0;
  bool solved_ = false;
};

}  // namespace agentr
