#pragma once

#include <optional>

#include "rollout/executor.h"

namespace agentr {

// For servers without forks: sessions of a SessionPool step forward, or are reset and replay
// earlier actions.
class ReplayExecutor : public Executor {
 public:
  ReplayExecutor(int task_id, SessionPool& pool, const TaskFamily& family,
                 const std::atomic<bool>& stop);
  ~ReplayExecutor() override;

  Result<std::string> Start() override;
  Result<void> Execute(int state, const std::vector<std::string>& actions, bool last_turn) override;

 private:
  Result<std::vector<std::string>> QueryValidActions(int state) override;

  // Repeats `attempt` (a function that returns a Result<void>) while it ends in kSessionLost, up to
  // a limit: a session that is reset and replayed can take the place of the lost one.
  template <typename Fn>
  Result<void> WithRetries(Fn&& attempt);

  // Puts actions that probably do not change the state first, because there each costs only one
  // call.
  void PutUnchangedFirst(int state, std::vector<std::string>& actions) const;

  // The work of one session: goes to `state` and takes `actions` from the front until one changes
  // the state, removing those whose outcome is recorded.
  Result<void> ExecuteFrom(int state, std::vector<std::string>& actions);

  // Moves the leased session to the end of `path`. If a reply is lost on the way, the environment
  // is asked where the session is now, so that not all actions must be replayed.
  Result<void> AdvanceTo(SessionPool::Lease& lease, const std::vector<int>& path);
  // Takes the known action from `lease.place` into `next`. `shown` is the session's observation;
  // it is empty if it is not known.
  Result<void> Replay(SessionPool::Lease& lease, int next, std::string& shown);
  // After a lost reply to that action: true if it was taken, false if not, and nothing if the
  // environment does not tell or if both states look the same.
  std::optional<bool> WasTaken(SessionPool::Lease& lease, int next, const std::string& shown);
  Result<StepResult> Step(SessionPool::Lease& lease, const std::string& action);
  Result<void> Reset(SessionPool::Lease& lease);

  const int task_id_;
  SessionPool& pool_;
  const std::atomic<bool>& stop_;
  const int64_t tree_;
  bool last_turn_ = false;           // of the present Execute
  bool repeats_observation_ = true;  // until the environment says that it does not
};

}  // namespace agentr
