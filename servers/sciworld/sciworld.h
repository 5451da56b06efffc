// An episode of ScienceWorld as AgentGym scores it.
//
// The score is in hundredths, rounded to the nearest integer, halves to even; the reward of a step
// is its change. The episode is done when the task is completed, after more than 100 moves, or at a
// negative score, which means final failure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "servers/sciworld/sciworld_tasks.h"
#include "servers/sciworld/simulator.h"

namespace agentr {

struct SciWorldReply {
  std::string observation;
  int reward = 0;
  int score = 0;
  bool done = false;
};

// 100 * score: 0.125 gives 12, 0.135 gives 14.
int SciWorldScore(double score);

// One session. Not thread-safe. After a SimulatorError the episode must be dropped.
class SciWorldEpisode {
 public:
  SciWorldEpisode(SimulatorSource& source, SimulatorTask task);

  // An episode in the same state, from which on both go their own ways.
  SciWorldEpisode Fork() const;

  // Starts another episode with the same simulator. The first action is a look around, and its
  // outcome is the first reply.
  void Reset(SimulatorTask task);

  const SciWorldReply& Step(std::string_view action);

  const SimulatorTask& task() const { return task_; }
  const std::string& description() const { return description_; }
  const SciWorldReply& last() const { return last_; }

  // Information about the present state, which these calls do not change.
  std::string Goals() { return simulator_->Goals(); }
  std::vector<std::string> PossibleActions() { return simulator_->PossibleActions(); }
  std::vector<std::string> PossibleObjects() { return simulator_->PossibleObjects(); }
  std::vector<std::string> ValidActions() { return simulator_->ValidActions(); }

 private:
  SciWorldEpisode() = default;

  std::unique_ptr<Simulator> simulator_;
  SimulatorTask task_;
  std::string description_;
  SciWorldReply last_;
};

// Actions that solve the task from its beginning, according to the simulator's planner; not the
// shortest ones.
std::vector<std::string> SciWorldGold(SimulatorSource& source, SimulatorTask task);

}  // namespace agentr
