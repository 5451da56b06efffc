// Runs spliced trajectories in the environment and judges the result. The published code never does
// this: it assumes that the good path leads to the same reward after the bad steps.
//
// The trajectories of a task share one Executor (rollout/executor.h): a common beginning is
// executed only once, in one session that is forked if the environment can fork. The revision
// action is also sent. If it provably changes nothing, the row shows the configured reply; else it
// shows the environment's answer.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/environment.h"
#include "common/named_values.h"
#include "revision/splice.h"
#include "rollout/executor.h"
#include "rollout/session_pool.h"
#include "tasks/task_family.h"

namespace agentr {

enum class ReplayOutcome {
  kUnchecked,  // not replayed
  kVerified,   // reached the reward of a good path, and every observation was as expected
  kDiverged,   // reached it with other observations, or in fewer turns
  kFailed,     // ended below it, before the first good turn, or with a trained turn refused
};

inline constexpr std::array<NamedValue<ReplayOutcome>, 4> kReplayOutcomes = {
    {{"unchecked", ReplayOutcome::kUnchecked},
     {"verified", ReplayOutcome::kVerified},
     {"diverged", ReplayOutcome::kDiverged},
     {"failed", ReplayOutcome::kFailed}}};
constexpr std::string_view Name(ReplayOutcome outcome) { return NameOf(kReplayOutcomes, outcome); }

struct Replay {
  ReplayOutcome outcome = ReplayOutcome::kUnchecked;
  double reward = 0;                           // of the last turn; 0 for a disaster
  size_t turns = 0;                            // turns taken, including the revision turn
  bool ended_bad = false;                      // the episode ended before the first good turn
  std::map<size_t, std::string> observations;  // the unexpected ones, by turn

  bool operator==(const Replay&) const = default;
};

// One turn of an episode.
struct ReplayedTurn {
  StepResult result;
  bool unchanged = false;  // the state certainly did not change
  bool refused = false;    // the environment refused the action
  int state = 0;           // the executor's state after the turn
};
using ReplayedEpisode = std::vector<ReplayedTurn>;  // shorter if the environment ended the episode

// Judges the trajectory by the episode of its actions. A reading of an instrument may differ from
// the expected one (TaskFamily::WithoutReadings) if no later turn's text contains the expected
// observation's readings, so that what is trained stays true. Without `family` none may.
Replay JudgeReplay(const Trajectory& trajectory, const ReplayedEpisode& episode, double alpha,
                   const TaskFamily* family = nullptr);

// Whether the observation of turn `i` may be `observation`.
bool IsAsExpected(const Trajectory& trajectory, size_t i, const std::string& observation,
                  const TaskFamily* family);

// Puts the real observations into the trajectory and removes turns after the end of the episode.
void ApplyReplay(const Replay& replay, Trajectory& trajectory);

// The actions of the trajectory's turns.
std::vector<std::string> ActionsOf(const Trajectory& trajectory);

// Runs episodes of one task. Used by one thread.
class Replayer {
 public:
  // All references outlive it. `pool` serves environments that cannot fork.
  Replayer(int task_id, const TaskFamily& family, Environment& environment, SessionPool& pool,
           const std::atomic<bool>& stop);

  // Starts the task; returns its first observation.
  Result<std::string> Start();

  // Takes the actions, beginning in `state`, until the episode ends.
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
  int64_t episodes_ = 0;  // episodes that began at the root
  int64_t turns_ = 0;     // turns of these episodes
};

}  // namespace agentr
