// The thoughts of trained turns. The environment proves the actions of a row right, but nobody
// checks the words before them: a small model samples "oak log using 4 dark oak log" in front of
// an action that works all the same, and training on it spoils the words of the next iteration.
#pragma once

#include <string_view>

#include "revision/make/counts.h"
#include "revision/make/splice.h"
#include "tasks/task_family.h"

namespace agentr {

// `mode`: "keep" leaves the thoughts as they are. "agree" refuses a row with a trained turn whose
// thought contradicts its action (RevisionHints::ThoughtFits). "rewrite" replaces each trained turn by
// the family's own words for it (RevisionHints::Reworded); where the family has none, it does as
// "agree" does. The revision turn is not touched. Returns false if the row must be left
// out. Counts what it does. The observations must be those of the replay.
bool MendThoughts(std::string_view mode, const TaskFamily& family, Trajectory& trajectory,
                  RevisionCounts& counts);

}  // namespace agentr
