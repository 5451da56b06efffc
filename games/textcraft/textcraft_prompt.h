// The first observation of a TextCraft task.
#pragma once

#include <string>

#include "common/random.h"
#include "games/textcraft/recipe_book.h"

namespace agentr {

// "minecraft:oak_log" -> "oak log".
std::string DisplayName(const std::string& name);

// "Crafting commands:\n…\n\nGoal: craft <goal>." The lines are the recipes on the way to `goal`,
// and up to 10 others that use one of the same ingredients, shuffled. The draws are: for each
// ingredient, in the order in which the recipes are found (breadth first from the goal), 10 of its
// uses; then 10 of those that are not yet shown; then all lines are shuffled.
std::string TextCraftPrompt(const RecipeBook& book, NameId goal, RandomStream random);

}  // namespace agentr
