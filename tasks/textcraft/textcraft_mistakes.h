// Makes mistakes and random actions in TextCraft, for scripted models.
#pragma once

#include <string>

#include "common/random.h"
#include "tasks/textcraft/textcraft_planner.h"

namespace agentr {

// A typical mistake of a model instead of the action `meant`: a wrong count, a wrong ingredient,
// picking up an item that has to be crafted, crafting too early, repeating the refused action, or
// showing the inventory. The game refuses most of them; some are only detours.
std::string TextCraftMistake(const TextCraftView& view, const TextCraftAction& meant,
                             RandomStream& random);

// Any action that is plausible from the observation.
TextCraftAction RandomTextCraftAction(const TextCraftView& view, RandomStream& random);

}  // namespace agentr
