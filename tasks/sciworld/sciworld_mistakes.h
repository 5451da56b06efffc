// Makes mistakes and random actions in SciWorld, for scripted models.
#pragma once

#include <string>

#include "common/random.h"
#include "tasks/sciworld/sciworld_conversation.h"

namespace agentr {

// A mistake instead of `meant`, never that action itself: an action that the room suggests, a
// useless action, skipping a step of the plan by taking `skipped` ("" if there is none), or
// focusing on the wrong thing, which makes most tasks unsolvable.
std::string SciWorldMistake(const SciWorldView& view, std::string_view meant,
                            const std::string& skipped, RandomStream& random);

// Any action that is plausible from what was seen.
std::string RandomSciWorldAction(const SciWorldView& view, RandomStream& random);

}  // namespace agentr
