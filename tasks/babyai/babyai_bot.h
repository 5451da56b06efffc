// An expert for BabyAI-Text: it sees what an agent sees, explores its room and takes the shortest
// known way to each part of its mission.
#pragma once

#include <string_view>

#include "tasks/babyai/babyai_map.h"

namespace agentr {

struct BabyAiStep {
  // One of "turn left", "turn right", "go forward", "pick up", "drop", "toggle"; if nothing leads
  // on, "turn right".
  std::string_view action;
  // What it leads to: the thing of the mission's part, the key of a locked door, or the thing next
  // to which what is carried belongs. Its type is empty if the mission is not understood.
  BabyAiWanted about;
};

BabyAiStep PlanBabyAi(const BabyAiScene& scene);

}  // namespace agentr
