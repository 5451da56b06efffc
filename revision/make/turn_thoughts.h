// The thoughts of trained turns. The environment proves the actions of a row right, but nobody
// checks the words before them: a small model samples "oak log using 4 dark oak log" in front of
// an action that works all the same, and training on it spoils the words of the next iteration.
#pragma once

#include <string>
#include <string_view>

#include "common/random.h"
#include "revision/make/counts.h"
#include "revision/make/splice.h"
#include "revision/make/thoughts.h"
#include "tasks/task_family.h"

namespace agentr {

// Takes the revision turn out. With `where` "next" the turn after it says what that said, before
// its own thought: so the agent says it where it sees the page, and mends the mistake at once. With
// "none" nothing is said: the correction alone, to compare with. The revision turn stays if the
// environment answered it with anything but `reply`, or if the next turn is not trained.
// MendThoughts writes the words.
void TakeOutRevisionTurn(std::string_view where, std::string_view reply, Trajectory& trajectory);

// `response` with `first` before its thought, if that does not begin so: a model that has learned
// to say it may have said it itself.
std::string SaidFirst(std::string_view first, std::string_view response);

// `mode`: "keep" leaves the thoughts as they are. "agree" refuses a row with a trained turn whose
// thought contradicts its action or what the row shows (RevisionHints::ThoughtFits); if the turn is
// before the mistake, it is not trained, and the row stays. "rewrite" replaces each trained turn by
// the family's own words for it (RevisionHints::Reworded); where the family has none, it does as
// "agree" does. The revision turn is not touched.
//
// In each mode, what a turn admits (SplicedTurn::admits) becomes the beginning of its thought. In a
// rewritten one it takes the place of what the family says of the last action.
//
// Returns false if the row must be left out. Counts what it does. The observations must be those of
// the replay.
bool MendThoughts(std::string_view mode, const TaskFamily& family, Trajectory& trajectory,
                  RevisionCounts& counts);

// Writes a thought before the turns of `trajectory` that the model did not write, its revision turn
// and recoveries, if a turn of the tree in it has a thought: in the same place, between the same
// marks (such as <think> and </think>) or apart. `mistake`: the name of the mistake, or empty.
void ThinkBeforeInserted(const Thoughts& thinking, const std::string& mistake, RandomStream random,
                         Trajectory& trajectory);

}  // namespace agentr
