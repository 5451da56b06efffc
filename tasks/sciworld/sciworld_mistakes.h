// Mistakes and random actions in SciWorld.
#pragma once

#include <span>
#include <string>

#include "common/random.h"
#include "tasks/sciworld/sciworld_conversation.h"

namespace agentr {

// A mistake in place of `meant`, and never that action: doing what the place suggests, doing
// nothing useful, leaving out a step of the plan (`skipped`, "" if there is none), or pointing out
// the wrong thing, which fails most tasks for good.
std::string SciWorldMistake(const SciWorldView& view, std::string_view meant,
                            const std::string& skipped, RandomStream& random);

// Any action that what was seen makes plausible.
std::string RandomSciWorldAction(const SciWorldView& view, RandomStream& random);

}  // namespace agentr
