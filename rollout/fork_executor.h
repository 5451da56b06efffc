#pragma once

#include <type_traits>

#include "rollout/executor.h"

namespace agentr {

// For servers with /expand: every state has its own session on the server, forked from its parent's
// session, so an expansion of the search is one call.
class ForkExecutor : public Executor {
 public:
  ForkExecutor(int task_id, Environment& environment, const TaskFamily& family,
               const std::atomic<bool>& stop);

  Result<std::string> Start() override;
  Result<void> Execute(int state, const std::vector<std::string>& actions, bool last_turn) override;

 private:
  Result<std::vector<std::string>> QueryValidActions(int state) override;

  // Opens the root's session and starts the task; drops the sessions of all other states.
  Result<void> Restart();
  // Returns what `call` returns. If the server has lost the sessions that it needs, opens new ones
  // and calls it again.
  template <typename Call>
  std::invoke_result_t<Call> WithNewSessions(const Call& call);
  // Gives `state` a session, by expanding along its path from the nearest ancestor that has one.
  Result<void> Restore(int state);
  Result<std::vector<Fork>> Expand(int state, const std::vector<std::string>& actions);

  const int task_id_;
  Environment& environment_;
  const std::atomic<bool>& stop_;
  // By state; null if it has none. The first is the root's: destroying it ends all others.
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace agentr
