// The results of a self_train run, iteration by iteration, for people.
#pragma once

#include <string>
#include <vector>

#include "loop/loop_plan.h"
#include "loop/loop_record.h"

namespace agentr {

// One line per evaluated iteration: success and reward with 95 % intervals, their differences to
// the start model on the same tasks, refused steps, loops, revisions, and how many of the errors
// (runs of refused steps) a revision follows. Then one line per training with rows and trained
// tokens, and the seconds of each stage. Contains only finished stages.
std::string LoopTable(const std::vector<LoopStage>& plan, const LoopRecord& record);

}  // namespace agentr
