#pragma once

#include <string_view>

#include "revision/counts.h"
#include "revision/splice.h"
#include "tasks/task_family.h"

namespace agentr {

// Looks for trained turns that say more or less than one action: what goes on behind the action (an
// invented observation, say), several actions, no action that the family can read. `mode`: "cut"
// cuts what goes on behind the only action; a row that cannot be cut is to be left out: false.
// "drop" leaves out all of them, "keep" none. Counts what it found.
bool CleanTurns(std::string_view mode, const TaskFamily& family, Trajectory& trajectory,
                RevisionCounts& counts);

}  // namespace agentr
