// Recipes as a folder of Minecraft recipe JSON files, in the form that the public AgentGym server
// reads.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "games/textcraft/recipe_book.h"

namespace agentr {

// Every crafting recipe of the *.json files of `folder`, in the order of the file names. Types
// other than crafting_shaped and crafting_shapeless are skipped; of alternative ingredients the
// first one is used. Throws FatalError(kFile) naming the file and the cure.
std::vector<SourceRecipe> ReadRecipeFolder(const std::filesystem::path& folder);

// Writes one file of each recipe, shapeless, so that ReadRecipeFolder gives the same recipes in the
// same order: the file names begin with the recipe's number. Other files of the folder stay. Throws
// FatalError(kFile).
void WriteRecipeFolder(std::span<const SourceRecipe> recipes, const std::filesystem::path& folder);

}  // namespace agentr
