// What a self_train run came to, iteration by iteration, for people.
#pragma once

#include <string>
#include <vector>

#include "training/loop/loop_plan.h"
#include "training/loop/loop_record.h"

namespace agentr {

// A line per evaluated iteration: success and reward with 95 % intervals, both against the start
// model on the same tasks, refused steps, loops and revisions. Behind it a line per training: rows
// and their trained tokens; and the seconds of each stage. Only what is finished.
std::string LoopTable(const std::vector<LoopStage>& plan, const LoopRecord& record);

}  // namespace agentr
