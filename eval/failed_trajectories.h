// The revision test (Agent-R, arXiv 2501.11425): failed trajectories of an evaluation are replayed
// up to a cut, from where a model goes on. Does it find its way out of the mistake?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rollout/episode.h"
#include "rollout/episode_player.h"

namespace agentr {

// Of `episodes` those with a result below `success`, in the same order.
std::vector<Episode> Failed(std::vector<Episode> episodes, double success);

// Starts with the first turns of each trajectory. `cut`: how many (1 at least); or "seeded":
// uniform from 1 to all but the last, a function of seed, task and attempt. At least the last turn
// that a trajectory has, or an episode of `max_steps` may have, is left to the model; trajectories
// that leave no such turn beside a given one are left out. Throws FatalError(kUsage) for another
// cut.
std::vector<EpisodeStart> CutTrajectories(const std::vector<Episode>& trajectories,
                                          const std::string& cut, uint64_t seed, int max_steps);

// The first of `episodes` that does not begin with the actions of its start (by task and attempt);
// nullptr if all do. Episodes without a start count as such that do.
const Episode* FirstNotGoneOnFrom(const std::vector<Episode>& episodes,
                                  const std::vector<EpisodeStart>& starts);

// What came of it, of the trajectories that an episode with a result goes on from.
struct RevisionTest {
  size_t trajectories = 0;
  size_t gone_on_from = 0;
  double reward_before = 0;  // means, in [0, 1]; 0 where nothing was gone on from
  double reward_after = 0;
  size_t turned = 0;  // into success
  size_t replayed_turns = 0;
  size_t differences = 0;  // replayed turns that were answered otherwise than in the trajectory
  size_t differing = 0;    // episodes with such turns
};

// Episodes belong to the trajectory of their task and attempt.
RevisionTest JudgeRevisionTest(const std::vector<Episode>& trajectories,
                               const std::vector<Episode>& episodes, double success);

// For people: a few lines.
std::string RevisionTable(const RevisionTest& test);

}  // namespace agentr
