// What to do next in TextCraft, from what a conversation shows.
//
// The plan works back from the goal: what is missing is crafted by its cheapest visible command,
// and what no command makes is picked up. An ingredient that no command makes is taken for a kind
// of items (a Minecraft tag) when commands make items of that name with a word in front ("planks":
// "oak planks", "birch planks") and do not need it for that.
#pragma once

#include <string>
#include <vector>

#include "tasks/textcraft/textcraft_conversation.h"

namespace agentr {

enum class TextCraftVerb { kGet, kCraft, kInventory };

struct TextCraftAction {
  TextCraftVerb verb = TextCraftVerb::kInventory;
  int item = 0;                 // what is picked up or made
  int count = 0;                // how many of it
  std::vector<ItemCount> uses;  // of a craft, as the game wants them: no kinds, only items
};

std::string ActionText(const TextCraftView& view, const TextCraftAction& action);

// The actions that make the goal out of what is held, in an order that works; equal items are
// picked up once. Empty when the commands show no way.
std::vector<TextCraftAction> PlanTextCraft(const TextCraftView& view);

}  // namespace agentr
