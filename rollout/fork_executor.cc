#include "rollout/fork_executor.h"

#include <fmt/core.h>

namespace agentr {
namespace {

constexpr int kMaxAttempts = 3;  // of one expansion, each after the first with new sessions

}  // namespace

ForkExecutor::ForkExecutor(int task_id, Environment& environment, const TaskFamily& family,
                           const std::atomic<bool>& stop)
    : Executor(family), task_id_(task_id), environment_(environment), stop_(stop) {}

Result<std::string> ForkExecutor::Start() {
  if (const Result<void> started = Restart(); !started) {
    return tl::make_unexpected(started.error());
  }
  return first_observation_;
}

Result<void> ForkExecutor::Restart() {
  sessions_.clear();
  sessions_.resize(static_cast<size_t>(states_.size()));
  Result<std::unique_ptr<Session>> session = environment_.Open();
  if (!session) return tl::make_unexpected(session.error());
  ++stats_.opens;
  const Result<std::string> observation = (*session)->Reset(task_id_);
  if (!observation) return tl::make_unexpected(observation.error());
  ++stats_.resets;
  CheckFirstObservation(*observation);
  sessions_[StateTree::kRoot] = std::move(*session);
  return {};
}

Result<void> ForkExecutor::Restore(int state) {
  if (sessions_[StateTree::kRoot] == nullptr) {
    if (const Result<void> restarted = Restart(); !restarted) return restarted;
  }
  int from = StateTree::kRoot;
  for (const int next : states_.Path(state)) {
    const auto slot = static_cast<size_t>(next);
    if (sessions_[slot] == nullptr) {
      Result<std::vector<Fork>> forks = Expand(from, {states_.Into(next).action});
      if (!forks) return tl::make_unexpected(forks.error());
      ++stats_.replays;
      CheckReplay(next, forks->front().step);
      sessions_[slot] = std::move(forks->front().session);
    }
    from = next;
  }
  return {};
}

Result<void> ForkExecutor::Execute(int state, const std::vector<std::string>& actions,
                                   bool /*last_turn*/) {
  const std::vector<std::string> unknown = Unknown(state, actions);
  if (unknown.empty()) return {};
  Result<std::vector<Fork>> forks = Expand(state, unknown);
  for (int attempt = 1; attempt < kMaxAttempts && !forks; ++attempt) {
    if (forks.error().kind != ErrorKind::kSessionLost) break;
    ++stats_.faults;
    // A server that is gone altogether shows here; its client has made its own attempts.
    if (const Result<void> restarted = Restart(); !restarted) return restarted;
    forks = Expand(state, unknown);
  }
  if (!forks) return tl::make_unexpected(forks.error());
  for (size_t i = 0; i < unknown.size(); ++i) {
    Fork& fork = (*forks)[i];
    const int next = Record(state, unknown[i], std::move(fork.step));
    if (next != state) sessions_.push_back(std::move(fork.session));
  }
  return {};
}

Result<std::vector<std::string>> ForkExecutor::QueryValidActions(int state) {
  const auto slot = static_cast<size_t>(state);
  const auto ask = [&]() -> Result<std::vector<std::string>> {
    if (stop_) return Fail(ErrorKind::kCancelled, "stopped");
    if (sessions_[slot] == nullptr) {
      if (const Result<void> restored = Restore(state); !restored) {
        return tl::make_unexpected(restored.error());
      }
    }
    return sessions_[slot]->Query("valid_actions");
  };
  Result<std::vector<std::string>> valid = ask();
  for (int attempt = 1; attempt < kMaxAttempts && !valid; ++attempt) {
    if (valid.error().kind != ErrorKind::kSessionLost) break;
    ++stats_.faults;
    if (const Result<void> restarted = Restart(); !restarted) {
      return tl::make_unexpected(restarted.error());
    }
    valid = ask();
  }
  return valid;
}

Result<std::vector<Fork>> ForkExecutor::Expand(int state, const std::vector<std::string>& actions) {
  if (stop_) return Fail(ErrorKind::kCancelled, "stopped");
  if (sessions_[static_cast<size_t>(state)] == nullptr) {
    if (const Result<void> restored = Restore(state); !restored) {
      return tl::make_unexpected(restored.error());
    }
  }
  Result<std::vector<Fork>> forks = sessions_[static_cast<size_t>(state)]->Expand(actions);
  ++stats_.expansions;
  if (forks && forks->size() != actions.size()) {
    return Fail(ErrorKind::kProtocol, fmt::format("an expansion of {} actions gave {} children",
                                                  actions.size(), forks->size()));
  }
  return forks;
}

}  // namespace agentr
