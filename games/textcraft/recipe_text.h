// Reads recipes in the project's own editable text format. There are four kinds of lines:
//
//   # a comment, also at the end of a line
//   {wood} = oak spruce birch               a set: {wood} stands for each of its words in turn
//   4 {wood}_planks = {wood}_log            a recipe: what, and how many of it (1 if left out),
//   ladder = 7 stick, 2 @planks             from which ingredients; @planks is any member of a tag
//   @planks = {wood}_planks                 members of a tag; each has a recipe in the file
//
// A line with sets stands for one line per combination of their words; a set that occurs twice in a
// line has the same word in both places. Sets must be defined before their first use. Names are
// written without "minecraft:". An item is a member of at most one tag. The order of the lines
// matters: see recipe_book.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "games/textcraft/recipe_book.h"

namespace agentr {

// The recipes of `text` in its order. `name` is the file's name in messages. Throws
// FatalError(kFile) "name:line: reason".
std::vector<SourceRecipe> ParseRecipeText(std::string_view text, const std::string& name);

// The built-in book, configs/textcraft/recipes.txt.
std::vector<SourceRecipe> BuiltInRecipes();

}  // namespace agentr
