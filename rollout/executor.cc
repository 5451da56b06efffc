#include "rollout/executor.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/text.h"
#include "rollout/fork_executor.h"
#include "rollout/replay_executor.h"
#include "tasks/revision_hints.h"

namespace agentr {

ExecutionStats& ExecutionStats::operator+=(const ExecutionStats& other) {
  AddFields(kExecutionFields, other, *this);
  return *this;
}

ExecutionStats Executor::stats() const {
  ExecutionStats stats = stats_;
  const StateTree::Bound bound = states_.LowerBound();
  stats.min_replay_calls = bound.walks;
  stats.unchanged_bound = bound.unchanged;
  return stats;
}

Result<std::vector<std::string>> Executor::ValidActions(int state) {
  const auto known = valid_actions_.find(state);
  if (known != valid_actions_.end()) return known->second;
  Result<std::vector<std::string>> valid = QueryValidActions(state);
  if (valid) valid_actions_[state] = *valid;
  return valid;
}

std::vector<std::string> Executor::Unknown(int state, const std::vector<std::string>& actions) {
  std::vector<std::string> unknown;
  for (const std::string& action : actions) {
    if (states_.Find(state, action) == nullptr) unknown.push_back(action);
  }
  stats_.cache_hits += static_cast<int64_t>(actions.size() - unknown.size());
  return unknown;
}

std::vector<Message> Executor::History(int state) const {
  std::vector<Message> history = {{"user", first_observation_}};
  for (const int step : states_.Path(state)) {
    if (step == StateTree::kRoot) continue;
    history.push_back({"assistant", "Action: " + states_.Into(step).action});
    history.push_back({"user", Seen(step)});
  }
  return history;
}

std::string Executor::Seen(int state) const {
  return state == StateTree::kRoot ? first_observation_ : OneLine(Shown(state));
}

const std::string& Executor::Shown(int state) const {
  return state == StateTree::kRoot ? first_observation_ : states_.Into(state).result.observation;
}

int Executor::Record(int state, const std::string& action, StepResult result) {
  const bool unchanged =
      !result.done && result.reward >= 0 &&
      family_.LeavesStateUnchanged(Seen(state), action, OneLine(result.observation));
  ++stats_.steps;
  return states_.Record(state, action, std::move(result), unchanged);
}

void Executor::CheckReplay(int state, const StepResult& replayed) {
  const StateTree::Transition& first = states_.Into(state);
  if (replayed.reward == first.result.reward && replayed.done == first.result.done &&
      SameButForReadings(family_, replayed.observation, first.result.observation)) {
    return;
  }
  ++stats_.mismatches;
  spdlog::warn(
      "replaying '{}' gave '{}' (reward {}), but the first time it gave '{}' (reward {}); is the "
      "environment deterministic?",
      first.action, replayed.observation, replayed.reward, first.result.observation,
      first.result.reward);
}

void Executor::CheckFirstObservation(const std::string& observation) {
  if (!started_) {
    started_ = true;
    first_observation_ = observation;
  } else if (!SameButForReadings(family_, observation, first_observation_)) {
    ++stats_.mismatches;
    spdlog::warn("the task began with a different observation than the first time: '{}', not '{}'",
                 observation, first_observation_);
  }
}

std::unique_ptr<Executor> MakeExecutor(int task_id, Environment& environment, SessionPool& pool,
                                       const TaskFamily& family, const std::atomic<bool>& stop) {
  if (environment.CanExpand())
    return std::make_unique<ForkExecutor>(task_id, environment, family, stop);
  return std::make_unique<ReplayExecutor>(task_id, pool, family, stop);
}

}  // namespace agentr
