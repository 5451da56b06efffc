// The plan of the scripted planner in SciWorld: the simulator's own solution, taken up where the
// conversation has got to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tasks/sciworld/sciworld_conversation.h"

namespace agentr {

// The steps of `gold` that are worth a turn: without those that only tell.
std::vector<std::string> SciWorldSteps(std::span<const std::string> gold);

// How many of `steps` the conversation has taken: its actions are compared with the next one, in
// order, and others are passed over. A step that was taken counts, whatever came of it. Where the
// oldest turns were cut it looks for the place that the rest of them fits best.
size_t SciWorldStepsTaken(std::span<const std::string> steps, std::span<const std::string> actions);

// The next action: the first step that was not taken; before it the way back, where a mistake has
// led into another room than the steps so far do. "look around" after the last.
std::string PlanSciWorld(const SciWorldView& view, std::span<const std::string> steps);

// The step after the one that is next; "" if there is none.
std::string SkipSciWorldStep(const SciWorldView& view, std::span<const std::string> steps);

}  // namespace agentr
