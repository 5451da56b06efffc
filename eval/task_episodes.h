// Groups episodes by task, the unit of all statistics here.
#pragma once

#include <span>
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

// True if the episode's reward reaches the threshold (to 1e-9).
bool IsSuccess(const Episode& episode, double threshold);

// Over the attempts with a result; there must be one.
double MeanReward(const TaskEpisodes& task);
double SuccessShare(const TaskEpisodes& task, double threshold);

// The turns that the agent chose, without those that a revision test replayed.
std::span<const EpisodeTurn> OwnTurns(const Episode& episode);

}  // namespace agentr
