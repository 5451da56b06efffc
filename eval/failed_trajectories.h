// The revision test (Agent-R, arXiv 2501.11425; method.md section 5): failed trajectories of an
// evaluation are replayed up to a cut, from where a model goes on. Does it find out of the mistake?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/episode.h"
#include "eval/episode_player.h"

namespace agentr {

// Of `episodes` those with a result below `success`, in the same order.
std::vector<Episode> Failed(std::vector<Episode> episodes, double success);

// Starts with the first turns of each trajectory. `cut`: how many; or "seeded": uniform from 1 to
// all but the last, a function of seed, task and attempt. At least the last turn is left to the
// model. Throws FatalError(kUsage) for another cut.
std::vector<EpisodeStart> CutTrajectories(const std::vector<Episode>& trajectories,
                                          const std::string& cut, uint64_t seed);

// Tells the trajectories apart from others: a hash of their tasks, attempts and actions.
std::string HashOf(const std::vector<Episode>& trajectories);

}  // namespace agentr
