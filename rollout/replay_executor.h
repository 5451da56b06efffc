#pragma once

#include "rollout/executor.h"

namespace agentr {

// For servers without forks: sessions of a SessionPool go forward, or are reset and replay.
class ReplayExecutor : public Executor {
 public:
  ReplayExecutor(int task_id, SessionPool& pool, const TaskFamily& family,
                 const std::atomic<bool>& stop);
  ~ReplayExecutor() override;

  Result<std::string> Start() override;
  Result<void> Execute(int state, const std::vector<std::string>& actions, bool last_turn) override;

 private:
  Result<std::vector<std::string>> QueryValidActions(int state) override;

  // Repeats `attempt` (a function that gives a Result<void>) while it ends in kSessionLost, which
  // another session, or the same one brought there again, can make up for; within limits.
  template <typename Fn>
  Result<void> WithRetries(Fn&& attempt);

  // What leaves the state as it is costs one call if it comes before what does not.
  void PutUnchangedFirst(int state, std::vector<std::string>& actions) const;

  // One session's worth of work: goes to `state` and takes `actions` from the front for as long as
  // they leave it there, removing those whose outcome is recorded.
  Result<void> ExecuteFrom(int state, std::vector<std::string>& actions);

  // Brings the session of the lease to the end of `path`.
  Result<void> AdvanceTo(SessionPool::Lease& lease, const std::vector<int>& path);
  Result<StepResult> Step(SessionPool::Lease& lease, const std::string& action);
  Result<void> Reset(SessionPool::Lease& lease);

  const int task_id_;
  SessionPool& pool_;
  const std::atomic<bool>& stop_;
  const int64_t tree_;
  bool last_turn_ = false;  // of the Execute under way
};

}  // namespace agentr
