// The revision test (Agent-R, arXiv 2501.11425): failed trajectories of an evaluation are replayed
// up to a cut, and then a model continues. It measures whether the model recovers from the mistake.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rollout/episode.h"
#include "rollout/episode_player.h"

namespace agentr {

// The episodes with a result and a reward below `success`, in the same order.
std::vector<Episode> Failed(std::vector<Episode> episodes, double success);

// The starts with the first turns of each trajectory. `cut` is the number of turns (at least 1), or
// "seeded": uniform from 1 to all turns but the last, as a function of seed, task and attempt. The
// model always plays at least the last turn of the trajectory, or the last one that `max_steps`
// allows; trajectories too short for one given and one own turn are left out. Throws
// FatalError(kUsage) for any other cut.
std::vector<EpisodeStart> CutTrajectories(const std::vector<Episode>& trajectories,
                                          const std::string& cut, uint64_t seed, int max_steps);

// The first of `episodes` that does not begin with the actions of its start (found by task and
// attempt), as far as the episode goes; nullptr if all do. Episodes without a start are ignored.
const Episode* FirstNotGoneOnFrom(const std::vector<Episode>& episodes,
                                  const std::vector<EpisodeStart>& starts);

// The result of a revision test, over the trajectories that an episode with a result continues.
struct RevisionTest {
  size_t trajectories = 0;
  size_t gone_on_from = 0;
  double reward_before = 0;  // means, in [0, 1]; 0 if no trajectory was continued
  double reward_after = 0;
  size_t turned = 0;  // episodes that turned the failure into a success
  size_t replayed_turns = 0;
  size_t differences = 0;  // replayed turns whose answer differed from the trajectory's, or ended
                           // the episode
  size_t differing = 0;    // episodes with such turns
};

// An episode continues the trajectory with the same task and attempt.
RevisionTest JudgeRevisionTest(const std::vector<Episode>& trajectories,
                               const std::vector<Episode>& episodes, double success);

// A few lines for people.
std::string RevisionTable(const RevisionTest& test);

}  // namespace agentr
