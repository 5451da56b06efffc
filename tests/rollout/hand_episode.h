// Episodes written by hand.
#pragma once

#include <string>
#include <vector>

#include "rollout/episode.h"

namespace agentr {

inline Episode HandEpisode(int task_id, int attempt, double reward,
                           const std::vector<std::string>& actions = {},
                           EpisodeEnd end = EpisodeEnd::kDone) {
  Episode episode;
  episode.task_id = task_id;
  episode.attempt = attempt;
  episode.reward = reward;
  episode.end = end;
  for (const std::string& action : actions) {
    EpisodeTurn turn;
    turn.action = action;
    episode.turns.push_back(turn);
  }
  return episode;
}

inline Episode FailedEpisode(int task_id, int attempt, const std::string& error,
                             EpisodeEnd end = EpisodeEnd::kEnvironmentError) {
  Episode episode = HandEpisode(task_id, attempt, 0, {"look"}, end);
  episode.error = error;
  return episode;
}

}  // namespace agentr
