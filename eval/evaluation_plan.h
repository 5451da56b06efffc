// The list of episodes that an evaluation will play: attempts at tasks, or continuations of failed
// episodes of an earlier evaluation (the revision test).
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
  std::vector<Episode> trajectories;   // in a revision test, the failed episodes to continue
  nlohmann::ordered_json played_with;  // everything that determines the episodes, except task and
                                       // attempt
};

// Plans attempts 0 to attempts - 1 at each of `ids`, in their order.
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

// Plans one start for each failed episode among `earlier`, restricted to the tasks `only` if given.
// Adds "cut" to `played_with`. Throws FatalError(kUsage) for episodes of another kind of task, if
// none has failed, and if no failed one leaves the model a turn within max_steps.
EvaluationPlan PlanRevisionTest(const RevisionTestOptions& options,
                                std::vector<StoredEpisode> earlier,
                                const std::optional<std::vector<int>>& only,
                                nlohmann::ordered_json played_with);

// Checks, before anything is played, that the episodes in the folder continue the trajectories of
// the plan. Throws FatalError(kUsage) naming the first file that does not.
void CheckFolder(const EpisodeStore& store, const EvaluationPlan& plan);

// The plan's episodes in `stored`, followed by those that are only in `failed` (ended in an error
// in this run). A stored episode takes precedence because another run may have played it since.
std::vector<Episode> EpisodesOf(const EvaluationPlan& plan, std::vector<Episode> stored,
                                const std::vector<Episode>& failed);

}  // namespace agentr
