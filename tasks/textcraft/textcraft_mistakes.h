// TextCraft actions beside the plan, for scripted models: mistakes, and random ones.
#pragma once

#include <string>

#include "common/random.h"
#include "tasks/textcraft/textcraft_planner.h"

namespace agentr {

// A mistake of the sort that models make, in place of the action `meant`: a wrong count, a wrong
// ingredient, picking up what has to be crafted, crafting too early, the refused action once more,
// or looking into the inventory. Mostly refused by the game, at times only a detour.
std::string TextCraftMistake(const TextCraftView& view, const TextCraftAction& meant,
                             RandomStream& random);

// Any action that the observation makes plausible.
TextCraftAction RandomTextCraftAction(const TextCraftView& view, RandomStream& random);

}  // namespace agentr
