// Runs given actions in a task's environment, again and again.
//
// All runs share one Executor (rollout/executor.h): a common beginning is executed only once, in
// one session that is forked if the environment can fork. What changes nothing is not taken again
// on the way back to a state, unless a task file says so: a file may be wrong about it, so there
// every action is taken behind all those before it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "clients/environment.h"
#include "rollout/executor.h"
#include "rollout/session_pool.h"
#include "tasks/task_family.h"

namespace agentr {

// One turn of an episode.
struct ReplayedTurn {
  StepResult result;
  bool unchanged = false;  // the state certainly did not change
  bool refused = false;    // the environment refused the action
  int state = 0;           // the executor's state after the turn
};
using ReplayedEpisode = std::vector<ReplayedTurn>;  // shorter if the environment ended the episode

// Runs episodes of one task. Used by one thread.
class Replayer {
 public:
  // All references outlive it. `pool` serves environments that cannot fork.
  Replayer(int task_id, const TaskFamily& family, Environment& environment, SessionPool& pool,
           const std::atomic<bool>& stop);

  // Starts the task; returns its first observation.
  Result<std::string> Start();

  // The observation with which `state` was entered, as the agent sees it (Executor::Seen).
  std::string Seen(int state) const { return executor_->Seen(Entered(state)); }

  // Takes the actions, beginning in `state`, until the episode ends.
  Result<ReplayedEpisode> Run(int state, std::span<const std::string> actions);

  int64_t episodes() const { return episodes_; }
  int64_t turns() const { return turns_; }
  ExecutionStats calls() const { return executor_->stats(); }

 private:
  // The state before the actions that led to `state` and changed nothing.
  int Entered(int state) const;

  const TaskFamily& family_;
  const std::unique_ptr<TaskFamily> word_for_word_;  // null: unchanged states are not left
  const std::unique_ptr<Executor> executor_;
  std::map<int, int>
      entered_;           // states behind actions that changed nothing: the state before these
  int64_t episodes_ = 0;  // episodes that began at the root
  int64_t turns_ = 0;     // turns of these episodes
};

}  // namespace agentr
