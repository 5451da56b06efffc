// Recipe books like the built-in one of TextCraft, with other names and other recipes.
//
// Each word of the book's names becomes another word, the same one wherever it stands, so that
// "oak planks" and "oak log" still share a word and "planks" is still what all planks end with.
// Counts are drawn anew, and some ingredients are exchanged for other items. What is left is the
// shape of the original: how deep recipes go, and how items come in families.
//
// A model that reads many such books cannot know an item by heart; it has to read the commands.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "common/random.h"
#include "games/textcraft/recipe_book.h"

namespace agentr {

struct VariedRecipes {
  std::vector<SourceRecipe> recipes;
  std::unordered_map<std::string, std::string> new_names;  // by the old one: "minecraft:oak_log"
};

// The words of configs/demos/words.txt.
std::vector<std::string> DemoWords();

// Those and the words of the built-in book, sorted.
std::vector<std::string> AllDemoWords();

// The same for the same draws of `random`. `words`: by which items may be named, beside the words
// of the book itself.
VariedRecipes VaryRecipes(const std::vector<SourceRecipe>& recipes,
                          const std::vector<std::string>& words, RandomStream random);

}  // namespace agentr
