#include "rollout/replay_executor.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace agentr {
namespace {

// If the environment does not tell whether the action was taken, the whole path is replayed. When a
// server loses a fifth of its replies, only one replay of 20 steps in a hundred succeeds. Hence the
// large limit. A server that is really gone is noticed much earlier: the client retries Reset and
// then reports it as unreachable.
constexpr int kMaxLostInARow = 300;
// The limit for a whole task. When a third of all replies is lost, a search with WebShop's default
// options loses 1,000 to 2,000.
constexpr int kMaxLost = 4000;

void PauseAfter(int lost) {
  if (lost > 2) std::this_thread::sleep_for(std::chrono::milliseconds(std::min(lost, 50)));
}

}  // namespace

ReplayExecutor::ReplayExecutor(int task_id, SessionPool& pool, const TaskFamily& family,
                               const std::atomic<bool>& stop)
    : Executor(family), task_id_(task_id), pool_(pool), stop_(stop), tree_(pool.NewTree()) {}

ReplayExecutor::~ReplayExecutor() { pool_.Retire(tree_); }

Result<std::string> ReplayExecutor::Start() {
  std::vector<std::string> nothing;
  AGENTR_RETURN_IF_ERROR(ExecuteFrom(StateTree::kRoot, nothing));
  return first_observation_;
}

Result<void> ReplayExecutor::Execute(int state, const std::vector<std::string>& actions,
                                     bool last_turn) {
  std::vector<std::string> unknown = Unknown(state, actions);
  if (unknown.size() > 1) PutUnchangedFirst(state, unknown);
  last_turn_ = last_turn;
  return WithRetries([&]() -> Result<void> {
    while (!unknown.empty()) {
      AGENTR_RETURN_IF_ERROR(ExecuteFrom(state, unknown));
    }
    return {};
  });
}

Result<std::vector<std::string>> ReplayExecutor::QueryValidActions(int state) {
  std::vector<std::string> valid;
  const std::vector<int> path = states_.Path(state);
  const Result<void> asked = WithRetries([&]() -> Result<void> {
    AGENTR_ASSIGN_OR_RETURN(SessionPool::Lease lease, pool_.Acquire(tree_, path, stop_));
    AGENTR_RETURN_IF_ERROR(AdvanceTo(lease, path));
    Result<std::vector<std::string>> answer = lease.session().Query("valid_actions");
    if (!answer) {
      lease.place = {};
      return tl::make_unexpected(answer.error());
    }
    valid = std::move(*answer);
    return {};
  });
  if (!asked) return tl::make_unexpected(asked.error());
  return valid;
}

template <typename Fn>
Result<void> ReplayExecutor::WithRetries(Fn&& attempt) {
  for (int in_a_row = 1;; ++in_a_row) {
    Result<void> done = attempt();
    if (done || done.error().kind != ErrorKind::kSessionLost) return done;
    ++stats_.faults;
    if (in_a_row >= kMaxLostInARow || stats_.faults >= kMaxLost) {
      return Fail(ErrorKind::kSessionLost,
                  fmt::format("gave up the task after {} lost replies to {} steps; the server or "
                              "the network loses too many: {}",
                              stats_.faults, stats_.steps + stats_.replays + stats_.faults,
                              done.error().message));
    }
    PauseAfter(in_a_row);
  }
}

void ReplayExecutor::PutUnchangedFirst(int state, std::vector<std::string>& actions) const {
  const std::vector<bool> likely = family_.LikelyUnchanged(History(state), actions);
  std::vector<std::string> sorted;
  for (const bool first : {true, false}) {
    for (size_t i = 0; i < actions.size(); ++i) {
      if (likely[i] == first) sorted.push_back(std::move(actions[i]));
    }
  }
  actions = std::move(sorted);
}

Result<void> ReplayExecutor::ExecuteFrom(int state, std::vector<std::string>& actions) {
  const std::vector<int> path = states_.Path(state);
  AGENTR_ASSIGN_OR_RETURN(SessionPool::Lease lease, pool_.Acquire(tree_, path, stop_));
  AGENTR_RETURN_IF_ERROR(AdvanceTo(lease, path));
  while (!actions.empty() && lease.place.state == state) {
    AGENTR_ASSIGN_OR_RETURN(StepResult result, Step(lease, actions.front()));
    // No action is taken after a disaster either, even if the environment does not end the episode.
    const bool done = result.done || result.reward < 0;
    lease.place.state = Record(state, actions.front(), std::move(result));
    // No action will follow in an ended state, nor after the last turn of a path: the next user may
    // reset the session.
    lease.spent = done || (last_turn_ && lease.place.state != state);
    actions.erase(actions.begin());
  }
  return {};
}

Result<void> ReplayExecutor::AdvanceTo(SessionPool::Lease& lease, const std::vector<int>& path) {
  const bool on_path =
      lease.place.tree == tree_ && std::ranges::binary_search(path, lease.place.state);
  // What a session shows after actions that changed nothing is not known.
  std::string shown;
  if (!on_path) {
    AGENTR_RETURN_IF_ERROR(Reset(lease));
    shown = first_observation_;
  }
  // State ids increase along a path, so binary search finds the first step still to take.
  for (auto next = std::ranges::upper_bound(path, lease.place.state); next != path.end(); ++next) {
    AGENTR_RETURN_IF_ERROR(Replay(lease, *next, shown));
  }
  return {};
}

Result<void> ReplayExecutor::Replay(SessionPool::Lease& lease, int next, std::string& shown) {
  const SessionPool::Place before = lease.place;
  while (lease.place.state != next) {
    const Result<StepResult> result = Step(lease, states_.Into(next).action);
    if (result) {
      ++stats_.replays;
      CheckReplay(next, *result);
      shown = result->observation;
      lease.place = {tree_, next};
      continue;
    }
    if (result.error().kind != ErrorKind::kSessionLost) return tl::make_unexpected(result.error());
    const std::optional<bool> taken = WasTaken(lease, next, shown);
    if (!taken || stats_.faults >= kMaxLost) return tl::make_unexpected(result.error());
    ++stats_.faults;
    lease.place = before;
    if (*taken) {
      shown = Shown(next);
      lease.place.state = next;
    }
  }
  return {};
}

std::optional<bool> ReplayExecutor::WasTaken(SessionPool::Lease& lease, int next,
                                             const std::string& shown) {
  const std::string& after = Shown(next);
  if (!repeats_observation_ || shown.empty() || shown == after) return std::nullopt;
  const Result<std::string> now = lease.session().Observation();
  if (!now) {
    repeats_observation_ = now.error().kind != ErrorKind::kRejected;
    return std::nullopt;
  }
  if (*now == after) return true;
  if (*now == shown) return false;
  return std::nullopt;
}

Result<StepResult> ReplayExecutor::Step(SessionPool::Lease& lease, const std::string& action) {
  if (stop_) return Fail(ErrorKind::kCancelled, "stopped");
  Result<StepResult> result = lease.session().Step(action);
  if (!result) {
    // It is unknown whether the action was taken.
    lease.place = {};
  }
  return result;
}

Result<void> ReplayExecutor::Reset(SessionPool::Lease& lease) {
  lease.place = {};
  lease.spent = false;
  AGENTR_ASSIGN_OR_RETURN(const std::string observation, lease.session().Reset(task_id_));
  ++stats_.resets;
  CheckFirstObservation(observation);
  lease.place = {tree_, StateTree::kRoot};
  return {};
}

}  // namespace agentr
