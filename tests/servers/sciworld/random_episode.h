// Episodes to compare runs of the simulator by.
#pragma once

#include <string>
#include <vector>

#include "servers/sciworld/sciworld.h"

namespace agentr {

// All that episode `number` shows: of each step's valid actions one is taken, and time passes.
inline std::string PlayRandomEpisode(SimulatorSource& source, size_t number) {
  SciWorldEpisode episode(source, SimulatorTaskAt(number * 113 % SimulatorTaskCount()));
  std::string shown = episode.description() + episode.last().observation;
  size_t draw = number;
  for (int i = 0; i < 4 && !episode.last().done; ++i) {
    const std::vector<std::string> valid = episode.ValidActions();
    draw = draw * 6364136223846793005U + 1442695040888963407U;
    const std::string& action = valid.at((draw >> 33U) % valid.size());
    shown += action + episode.Step(action).observation + std::to_string(episode.last().score);
    if (!episode.last().done) shown += episode.Step("wait").observation;
    if (!episode.last().done) shown += episode.Step("look around").observation;
  }
  return shown;
}

}  // namespace agentr
