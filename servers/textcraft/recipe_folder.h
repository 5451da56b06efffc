// Recipes from a folder of Minecraft recipe JSON files, as the public AgentGym server ships them.
#pragma once

#include <filesystem>
#include <vector>

#include "servers/textcraft/recipe_book.h"

namespace agentr {

// Every crafting recipe of the *.json files of `folder`, in the order of the file names. Types
// other than crafting_shaped and crafting_shapeless are skipped; of alternatives the first counts.
// Throws FatalError(kFile) naming the file and the cure.
std::vector<SourceRecipe> ReadRecipeFolder(const std::filesystem::path& folder);

}  // namespace agentr
