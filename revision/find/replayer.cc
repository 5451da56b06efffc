#include "revision/find/replayer.h"

#include <utility>

namespace agentr {

Replayer::Replayer(int task_id, const TaskFamily& family, Environment& environment,
                   SessionPool& pool, const std::atomic<bool>& stop)
    : family_(family), executor_(MakeExecutor(task_id, environment, pool, family, stop)) {}

Result<std::string> Replayer::Start() {
  Result<std::string> start = executor_->Start();
  if (start) first_observation_ = *start;
  return start;
}

const std::string& Replayer::Shown(int state) const {
  if (state == StateTree::kRoot) return first_observation_;
  return executor_->states().Into(state).result.observation;
}

Result<ReplayedEpisode> Replayer::Run(int state, std::span<const std::string> actions) {
  ReplayedEpisode episode;
  if (state == StateTree::kRoot) ++episodes_;
  for (size_t i = 0; i < actions.size(); ++i) {
    const std::string& action = actions[i];
    AGENTR_RETURN_IF_ERROR(executor_->Execute(state, {action}, i + 1 == actions.size()));
    const StateTree::Transition taken = *executor_->states().Find(state, action);
    const bool over = taken.result.done || taken.result.reward < 0;
    const bool refused = !over && family_.IsRefusal(Shown(state), action, taken.result.observation);
    episode.push_back({taken.result, taken.state == state, refused, taken.state});
    ++turns_;
    if (over) break;
    state = taken.state;
  }
  return episode;
}

}  // namespace agentr
