// Draws the world and the mission of a BabyAI episode, in exactly the order of the original's
// draws, so that the same seed gives the same episode.
#pragma once

#include "common/pcg64.h"
#include "games/babyai/babyai_level.h"
#include "games/babyai/babyai_mission.h"
#include "games/babyai/babyai_world.h"

namespace agentr {

struct BabyAiLayout {
  BabyAiWorld world;
  BabyAiMission mission;
};

// The next layout of the stream `random` for one of the level's tasks. The training levels take
// some hundred draws, the test level up to some ten thousand, because most missions are rejected.
BabyAiLayout DrawLayout(const BabyAiLevel& level, BabyAiTask task, Pcg64& random);

}  // namespace agentr
