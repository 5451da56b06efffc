#include "eval/task_episodes.h"

#include <algorithm>
#include <map>

namespace agentr {

std::vector<TaskEpisodes> GroupByTask(std::span<const Episode> episodes) {
  std::map<int, TaskEpisodes> tasks;
  for (const Episode& episode : episodes) tasks[episode.task_id].all.push_back(&episode);
  std::vector<TaskEpisodes> groups;
  for (auto& [id, group] : tasks) {
    group.task_id = id;
    std::ranges::stable_sort(group.all, {}, &Episode::attempt);
    std::ranges::copy_if(group.all, std::back_inserter(group.with_result),
                         [](const Episode* episode) { return HasResult(episode->end); });
    groups.push_back(std::move(group));
  }
  return groups;
}

bool IsSuccess(const Episode& episode, double threshold) {
  return episode.reward >= threshold - 1e-9;
}

double MeanReward(const TaskEpisodes& task) {
  double sum = 0;
  for (const Episode* episode : task.with_result) sum += episode->reward;
  return sum / static_cast<double>(task.with_result.size());
}

double SuccessShare(const TaskEpisodes& task, double threshold) {
  const auto successes = std::ranges::count_if(
      task.with_result, [&](const Episode* episode) { return IsSuccess(*episode, threshold); });
  return static_cast<double>(successes) / static_cast<double>(task.with_result.size());
}

std::span<const EpisodeTurn> OwnTurns(const Episode& episode) {
  const std::span<const EpisodeTurn> turns(episode.turns);
  return turns.subspan(std::min(episode.replayed_turns, turns.size()));
}

}  // namespace agentr
