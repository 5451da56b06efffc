// An expert for BabyAI-Text: it sees what an agent sees, explores its room and takes the shortest
// known way to each part of its mission.
#pragma once

#include <string_view>

#include "tasks/babyai/babyai_map.h"

namespace agentr {

// The next action: one of "turn left", "turn right", "go forward", "pick up", "drop", "toggle".
// If nothing leads on, "turn right".
std::string_view PlanBabyAi(const BabyAiScene& scene);

}  // namespace agentr
