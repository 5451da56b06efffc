// The plan of the scripted planner in SciWorld: the simulator's own solution, continued from the
// point that the conversation has reached.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tasks/sciworld/sciworld_conversation.h"

namespace agentr {

// The steps of `gold` without those that only give information.
std::vector<std::string> SciWorldSteps(std::span<const std::string> gold);

// How many of `steps` the conversation has taken. Each of its actions is compared with the next
// step, and other actions are skipped. A step counts when it was taken, whatever its result. If the
// oldest turns were removed, the count comes from the position in `steps` that fits the remaining
// turns best.
size_t SciWorldStepsTaken(std::span<const std::string> steps, std::span<const std::string> actions);

// The next action: the first step not yet taken, or the way back if a mistake has led to another
// room than the steps do. After the last step it is "look around".
std::string PlanSciWorld(const SciWorldView& view, std::span<const std::string> steps);

// The step after the next one; "" if there is none.
std::string SkipSciWorldStep(const SciWorldView& view, std::span<const std::string> steps);

}  // namespace agentr
