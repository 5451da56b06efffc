// Plans the next actions in TextCraft from the facts that a conversation shows.
//
// The plan works backwards from the goal: a missing item is crafted by its cheapest visible
// command, and an item that no command makes is picked up. An ingredient that no command makes
// counts as a kind of items (a Minecraft tag) if commands make items of that name with a word in
// front ("planks": "oak planks", "birch planks") and these commands do not need the ingredient.
#pragma once

#include <string>
#include <vector>

#include "tasks/textcraft/textcraft_conversation.h"

namespace agentr {

std::string ActionText(const TextCraftView& view, const TextCraftAction& action);

// The actions that make the goal from the items held, in a possible order; equal items are picked
// up together. Empty if the commands show no way.
std::vector<TextCraftAction> PlanTextCraft(const TextCraftView& view);

}  // namespace agentr
