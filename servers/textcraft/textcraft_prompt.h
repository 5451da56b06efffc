// The first observation of a TextCraft task.
#pragma once

#include <string>

#include "common/random.h"
#include "servers/textcraft/recipe_book.h"

namespace agentr {

// "minecraft:oak_log" -> "oak log".
std::string DisplayName(const std::string& name);

// "Crafting commands:\n…\n\nGoal: craft <goal>." The lines are the recipes that `goal` can be
// reached with, and up to 10 others that use one of the same ingredients, shuffled. Drawn so: for
// each ingredient in the order in which the recipes are found (breadth first from the goal), 10 of
// its uses; of those not shown already, 10; then all lines are shuffled.
std::string TextCraftPrompt(const RecipeBook& book, NameId goal, RandomStream random);

}  // namespace agentr
