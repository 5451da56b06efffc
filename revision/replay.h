// Runs spliced trajectories in the environment and says what comes of them. The published code
// never does: it assumes that the good path leads to the same reward after the bad steps.
//
// The trajectories of a task share one Executor (rollout/executor.h): what several begin with is
// executed once, in one session that is forked where the environment can fork. The revision action
// is sent too. Where the environment refuses it (it provably changes nothing), the model is shown
// the configured reply; else what the environment really answered.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/environment.h"
#include "revision/splice.h"
#include "rollout/executor.h"
#include "rollout/session_pool.h"
#include "tasks/task_family.h"

namespace agentr {

enum class ReplayOutcome {
  kUnchecked,  // not replayed
  kVerified,   // reached alpha, and every observation was the expected one
  kDiverged,   // reached alpha with other observations, or in fewer turns
  kFailed,     // ended below alpha, before the first good turn, or with a trained turn refused
};

// "unchecked", "verified", "diverged", "failed".
std::string_view Name(ReplayOutcome outcome);
ReplayOutcome ParseReplayOutcome(std::string_view name);  // throws std::invalid_argument

struct Replay {
  ReplayOutcome outcome = ReplayOutcome::kUnchecked;
  double reward = 0;                           // of the last turn taken; 0 for a disaster
  size_t turns = 0;                            // taken, the revision turn included
  bool ended_bad = false;                      // the episode was over before the first good turn
  std::map<size_t, std::string> observations;  // by turn, where they are not the expected ones

  bool operator==(const Replay&) const = default;
};

// One turn of an episode.
struct ReplayedTurn {
  StepResult result;
  bool unchanged = false;  // the state is certainly as it was
  bool refused = false;    // the environment did not take the action
  int state = 0;           // of the executor, after the turn
};
using ReplayedEpisode = std::vector<ReplayedTurn>;  // ends early where the environment does

// What the episode of the trajectory's actions says about it.
Replay JudgeReplay(const Trajectory& trajectory, const ReplayedEpisode& episode, double alpha);

// Puts the real observations into the trajectory, and cuts what came behind the end.
void ApplyReplay(const Replay& replay, Trajectory& trajectory);

// The actions of the trajectory's turns.
std::vector<std::string> ActionsOf(const Trajectory& trajectory);

// Runs episodes of one task. Used by one thread.
class Replayer {
 public:
  // All references outlive it. `pool` serves environments that cannot fork.
  Replayer(int task_id, const TaskFamily& family, Environment& environment, SessionPool& pool,
           const std::atomic<bool>& stop);

  // Starts the task; its first observation.
  Result<std::string> Start();

  // Takes the actions from `state` on, until the episode is over.
  Result<ReplayedEpisode> Run(int state, std::span<const std::string> actions);

  // The observation with which `state` was entered.
  const std::string& Shown(int state) const;

  int64_t episodes() const { return episodes_; }
  int64_t turns() const { return turns_; }
  ExecutionStats calls() const { return executor_->stats(); }

 private:
  const TaskFamily& family_;
  const std::unique_ptr<Executor> executor_;
  std::string first_observation_;
  int64_t episodes_ = 0;  // from the root
  int64_t turns_ = 0;     // of those
};

}  // namespace agentr
