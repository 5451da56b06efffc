// What an evaluation plays, decided before anything is played: attempts at tasks, or failed
// episodes of an earlier evaluation that are gone on from (the revision test).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "eval/episode_store.h"
#include "rollout/episode.h"
#include "rollout/episode_player.h"

namespace agentr {

struct EvaluationPlan {
  std::vector<EpisodeStart> starts;
  std::vector<Episode> trajectories;   // of a revision test: the failed episodes to go on from
  nlohmann::ordered_json played_with;  // all that decides what is played, except task and attempt
};

// Attempts 0 to attempts - 1 at each of `ids`, in their order.
EvaluationPlan PlanAttempts(const std::vector<int>& ids, int attempts,
                            nlohmann::ordered_json played_with);

struct RevisionTestOptions {
  std::string from;      // folder of the earlier evaluation, for messages
  std::string task;      // kind of task
  double success = 1.0;  // a reward of at least this is a success
  std::string cut;       // CutTrajectories
  uint64_t seed = 0;
  int max_steps = 100;
};

// One start for each failed episode among `earlier`, of the tasks `only` where these are given.
// "cut" joins `played_with`. Throws FatalError(kUsage) for episodes of another kind of task, where
// none has failed, and where no failed one leaves the model a turn within max_steps.
EvaluationPlan PlanRevisionTest(const RevisionTestOptions& options,
                                std::vector<StoredEpisode> earlier,
                                const std::optional<std::vector<int>>& only,
                                nlohmann::ordered_json played_with);

// Before anything is played: that the episodes in the folder go on from the trajectories of the
// plan. Throws FatalError(kUsage) that names the first file that does not.
void CheckFolder(const EpisodeStore& store, const EvaluationPlan& plan);

// Of the episodes of the plan those in `stored`, and after them those in `failed`, which ended in
// an error in this run, where none is stored: another run may have played them since.
std::vector<Episode> EpisodesOf(const EvaluationPlan& plan, std::vector<Episode> stored,
                                const std::vector<Episode>& failed);

}  // namespace agentr
