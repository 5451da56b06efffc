// Runs spliced trajectories in the environment and says what comes of them. The published code
// never does: it assumes that the good path leads to the same reward after the bad steps.
//
// The trajectories of a task are walked together: what several begin with is executed once, in one
// session that is forked where the environment can fork (mcts/executor.h). The revision action is
// sent too. Where the environment refuses it (it provably changes nothing), the model is shown the
// configured reply; else what the environment really answered.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "clients/environment.h"
#include "tasks/task_family.h"
#include "rollout/executor.h"
#include "rollout/session_pool.h"
#include "revision/splice.h"

namespace agentr {

enum class ReplayOutcome {
  kUnchecked,  // not replayed
  kVerified,   // reached alpha, and every observation was the expected one
  kDiverged,   // reached alpha with other observations, or in fewer turns
  kFailed,     // ended below alpha, or before the first good turn
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
};
using ReplayedEpisode = std::vector<ReplayedTurn>;  // ends early where the environment does

// What the episode of the trajectory's actions says about it.
Replay JudgeReplay(const Trajectory& trajectory, const ReplayedEpisode& episode, double alpha);

// Puts the real observations into the trajectory, and cuts what came behind the end.
void ApplyReplay(const Replay& replay, Trajectory& trajectory);

struct TaskEpisodes {
  bool same_start = true;  // false: the environment begins this task otherwise than the tree; no
                           // episode was run
  std::vector<ReplayedEpisode> episodes;  // one per trajectory
  ExecutionStats calls;
};

// Runs the trajectories of one task. `pool` serves environments that cannot fork.
Result<TaskEpisodes> RunEpisodes(int task, const std::vector<Trajectory>& trajectories,
                                 const TaskFamily& family, Environment& environment,
                                 SessionPool& pool, const std::atomic<bool>& stop);

}  // namespace agentr
