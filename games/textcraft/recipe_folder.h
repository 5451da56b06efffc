// Reads recipes from a folder of Minecraft recipe JSON files, in the form of the public AgentGym
// server.
#pragma once

#include <filesystem>
#include <vector>

#include "games/textcraft/recipe_book.h"

namespace agentr {

// Every crafting recipe of the *.json files of `folder`, in the order of the file names. Types
// other than crafting_shaped and crafting_shapeless are skipped; of alternative ingredients the
// first one is used. Throws FatalError(kFile) naming the file and the cure.
std::vector<SourceRecipe> ReadRecipeFolder(const std::filesystem::path& folder);

}  // namespace agentr
