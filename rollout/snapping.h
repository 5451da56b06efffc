// Snapping of SciWorld's actions in an episode (tasks/sciworld/sciworld_snap.h).
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "rollout/executor.h"

namespace agentr {

class HttpEnvironment;

// Applies SnapAction to each of the actions `said` in `state`; `taken` are the actions on the way
// there. Costs one query of the valid actions per state, and the actions "look around" and
// "inventory", whose outcomes the executor stores.
Result<std::vector<std::string>> SnapActions(Executor& executor, int state,
                                             const std::vector<std::string>& taken,
                                             std::vector<std::string> said);

// Throws FatalError(kUsage) if actions of this kind of task in this environment cannot be snapped.
void CheckSnapping(const std::string& task, const HttpEnvironment& environment);

}  // namespace agentr
