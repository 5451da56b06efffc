#pragma once

#include <string>
#include <string_view>

#include "revision/make/counts.h"
#include "revision/make/splice.h"
#include "tasks/task_family.h"

namespace agentr {

// True if the response consists of one action, with or without a thought before it.
bool SaysOneAction(const std::string& response, const TaskFamily& family);

// Finds trained turns that do not consist of exactly one action: text after the action (such as an
// invented observation), several actions, or no readable action. `mode`: "cut" removes the text
// after a single action and refuses rows with other faults, "drop" refuses all of them, "keep"
// none. Returns false if the row must be left out. Counts what it finds.
bool CleanTurns(std::string_view mode, const TaskFamily& family, Trajectory& trajectory,
                RevisionCounts& counts);

}  // namespace agentr
