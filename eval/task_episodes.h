// Groups episodes by task, the unit of all statistics here, and finds them by task and attempt.
#pragma once

#include <map>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "rollout/episode.h"

namespace agentr {

// The episodes of one task, by attempt. Points into the episodes given to GroupByTask.
struct TaskEpisodes {
  int task_id = 0;
  std::vector<const Episode*> with_result;  // the episodes by which the agent is judged
  std::vector<const Episode*> all;          // including those that ended in an error
};

// By task id.
std::vector<TaskEpisodes> GroupByTask(std::span<const Episode> episodes);

// What names an episode of an evaluation: its task and its attempt.
using EpisodeId = std::pair<int, int>;

// Of an Episode or an EpisodeStart.
EpisodeId IdOf(const auto& episode) { return {episode.task_id, episode.attempt}; }

// Episodes, or starts, by their ids. Points into `episodes`.
template <std::ranges::contiguous_range Range>
std::map<EpisodeId, const std::ranges::range_value_t<Range>*> ByAttempt(const Range& episodes) {
  std::map<EpisodeId, const std::ranges::range_value_t<Range>*> by_attempt;
  for (const auto& episode : episodes) by_attempt[IdOf(episode)] = &episode;
  return by_attempt;
}

// True if the episode's reward reaches the threshold (to 1e-9).
bool IsSuccess(const Episode& episode, double threshold);

// Over the attempts with a result; there must be one.
double MeanReward(const TaskEpisodes& task);
double SuccessShare(const TaskEpisodes& task, double threshold);

// The turns that the agent chose, without those that a revision test replayed.
std::span<const EpisodeTurn> OwnTurns(const Episode& episode);

}  // namespace agentr
