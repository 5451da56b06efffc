#include "rollout/fork_executor.h"

#include <fmt/core.h>

namespace agentr {
namespace {

constexpr int kMaxAttempts = 3;  // of one call; each attempt after the first uses new sessions

}  // namespace

ForkExecutor::ForkExecutor(int task_id, Environment& environment, const TaskFamily& family,
                           const std::atomic<bool>& stop)
    : Executor(family), task_id_(task_id), environment_(environment), stop_(stop) {}

Result<std::string> ForkExecutor::Start() {
  AGENTR_RETURN_IF_ERROR(Restart());
  return first_observation_;
}

Result<void> ForkExecutor::Restart() {
  sessions_.clear();
  sessions_.resize(static_cast<size_t>(states_.size()));
  AGENTR_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, environment_.Open());
  ++stats_.opens;
  AGENTR_ASSIGN_OR_RETURN(const std::string observation, session->Reset(task_id_));
  ++stats_.resets;
  CheckFirstObservation(observation);
  sessions_[StateTree::kRoot] = std::move(session);
  return {};
}

Result<void> ForkExecutor::Restore(int state) {
  if (sessions_[StateTree::kRoot] == nullptr) {
    AGENTR_RETURN_IF_ERROR(Restart());
  }
  int from = StateTree::kRoot;
  for (const int next : states_.Path(state)) {
    const auto slot = static_cast<size_t>(next);
    if (sessions_[slot] == nullptr) {
      AGENTR_ASSIGN_OR_RETURN(std::vector<Fork> forks, Expand(from, {states_.Into(next).action}));
      ++stats_.replays;
      CheckReplay(next, forks.front().step);
      sessions_[slot] = std::move(forks.front().session);
    }
    from = next;
  }
  return {};
}

template <typename Call>
std::invoke_result_t<Call> ForkExecutor::WithNewSessions(const Call& call) {
  auto result = call();
  for (int attempt = 1; attempt < kMaxAttempts && !result; ++attempt) {
    if (result.error().kind != ErrorKind::kSessionLost) break;
    ++stats_.faults;
    // If the server is gone for good, Restart fails after its client's own attempts.
    AGENTR_RETURN_IF_ERROR(Restart());
    result = call();
  }
  return result;
}

Result<void> ForkExecutor::Execute(int state, const std::vector<std::string>& actions,
                                   bool /*last_turn*/) {
  const std::vector<std::string> unknown = Unknown(state, actions);
  if (unknown.empty()) return {};
  AGENTR_ASSIGN_OR_RETURN(std::vector<Fork> forks,
                          WithNewSessions([&] { return Expand(state, unknown); }));
  for (size_t i = 0; i < unknown.size(); ++i) {
    Fork& fork = forks[i];
    const int next = Record(state, unknown[i], std::move(fork.step));
    // Record appends new states in this order, so the index of the session equals the id of its
    // state.
    if (next != state) sessions_.push_back(std::move(fork.session));
  }
  return {};
}

Result<std::vector<std::string>> ForkExecutor::QueryValidActions(int state) {
  const auto slot = static_cast<size_t>(state);
  return WithNewSessions([&]() -> Result<std::vector<std::string>> {
    if (stop_) return Fail(ErrorKind::kCancelled, "stopped");
    if (sessions_[slot] == nullptr) {
      AGENTR_RETURN_IF_ERROR(Restore(state));
    }
    return sessions_[slot]->Query("valid_actions");
  });
}

Result<std::vector<Fork>> ForkExecutor::Expand(int state, const std::vector<std::string>& actions) {
  if (stop_) return Fail(ErrorKind::kCancelled, "stopped");
  if (sessions_[static_cast<size_t>(state)] == nullptr) {
    AGENTR_RETURN_IF_ERROR(Restore(state));
  }
  Result<std::vector<Fork>> forks = sessions_[static_cast<size_t>(state)]->Expand(actions);
  ++stats_.expansions;
  if (forks && forks->size() != actions.size()) {
    return Fail(ErrorKind::kProtocol, fmt::format("an expansion of {} actions returned {} children",
                                                  actions.size(), forks->size()));
  }
  return forks;
}

}  // namespace agentr
