// Snapping of SciWorld's actions within a search (clients/sciworld_snap.h).
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "mcts/executor.h"
#include "mcts/tree.h"

namespace agentr {

// Replaces the action of each child by what SnapAction makes of it in `state`; `taken` are the
// actions on the way there. Costs one question of the environment per state, and the actions "look
// around" and "inventory", which an executor remembers. The response keeps what was said.
Result<void> SnapActions(Executor& executor, int state, const std::vector<std::string>& taken,
                         std::vector<Node>& children);

}  // namespace agentr
