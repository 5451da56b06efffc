// Executes actions in states of one task and stores their outcomes (StateTree), with as few
// environment calls as the server allows.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clients/environment.h"
#include "common/sum_fields.h"
#include "rollout/session_pool.h"
#include "rollout/state_tree.h"
#include "tasks/task_family.h"

namespace agentr {

// Environment calls of one search or, summed, of a run.
struct ExecutionStats {
  int64_t opens = 0;  // sessions opened
  int64_t resets = 0;
  int64_t steps = 0;             // actions taken for the first time
  int64_t replays = 0;           // actions repeated to bring a session to a state
  int64_t expansions = 0;        // expansion calls
  int64_t cache_hits = 0;        // actions whose outcome was already known
  int64_t mismatches = 0;        // replayed actions whose answer differed from the first one
  int64_t faults = 0;            // failed calls from which the executor recovered
  int64_t min_replay_calls = 0;  // StateTree::LowerBound().walks
  int64_t unchanged_bound = 0;   // StateTree::LowerBound().unchanged

  ExecutionStats& operator+=(const ExecutionStats& other);
};

inline constexpr std::array<SumField<ExecutionStats>, 10> kExecutionFields = {
    {{"sessions_opened", &ExecutionStats::opens},
     {"resets", &ExecutionStats::resets},
     {"steps", &ExecutionStats::steps},
     {"replayed_steps", &ExecutionStats::replays},
     {"expansions", &ExecutionStats::expansions},
     {"cache_hits", &ExecutionStats::cache_hits},
     {"mismatches", &ExecutionStats::mismatches},
     {"faults_made_up_for", &ExecutionStats::faults},
     {"min_replay_calls", &ExecutionStats::min_replay_calls},
     {"unchanged_bound", &ExecutionStats::unchanged_bound}}};
static_assert(NamesEveryField(kExecutionFields));

// Used only by the thread that runs the task.
class Executor {
 public:
  virtual ~Executor() = default;

  // Starts the task; returns its first observation.
  virtual Result<std::string> Start() = 0;

  // Ensures that states() contains the outcome of each of `actions` (distinct) in `state`. A
  // refused action also has an outcome; an error means that the task cannot continue. `last_turn`:
  // no action will be executed in the resulting states.
  virtual Result<void> Execute(int state, const std::vector<std::string>& actions,
                               bool last_turn) = 0;

  // The actions that the environment understands in `state`, from its extension "valid_actions",
  // queried once per state. Changes nothing. Has the errors of Execute.
  Result<std::vector<std::string>> ValidActions(int state);

  // The first observation and the turns that led to `state`, without those that changed nothing.
  std::vector<Message> History(int state) const;

  // The observation with which `state` was entered, as the agent sees it (OneLine, but the first
  // one as the environment gave it); that is what TaskFamily judges.
  std::string Seen(int state) const;

  const StateTree& states() const { return states_; }
  ExecutionStats stats() const;

 protected:
  explicit Executor(const TaskFamily& family) : family_(family) {}

  virtual Result<std::vector<std::string>> QueryValidActions(int state) = 0;

  // The actions whose outcome in `state` is not yet known.
  std::vector<std::string> Unknown(int state, const std::vector<std::string>& actions);
  // The same as the environment gave it. Valid until the next Record.
  const std::string& Shown(int state) const;
  int Record(int state, const std::string& action, StepResult result);

  // Counts and logs a replayed action whose answer differs from the first one by more than
  // readings.
  void CheckReplay(int state, const StepResult& replayed);
  // The same for the first observation, which the first call records.
  void CheckFirstObservation(const std::string& observation);

  const TaskFamily& family_;
  StateTree states_;
  std::string first_observation_;
  bool started_ = false;
  ExecutionStats stats_;

 private:
  std::map<int, std::vector<std::string>> valid_actions_;  // by state
};

// The executor for the task `task_id`: a ForkExecutor if the environment can fork, else a
// ReplayExecutor with sessions of `pool`.
std::unique_ptr<Executor> MakeExecutor(int task_id, Environment& environment, SessionPool& pool,
                                       const TaskFamily& family, const std::atomic<bool>& stop);

}  // namespace agentr
