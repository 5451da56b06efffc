// Recipe books for the tests.
#pragma once

#include <filesystem>
#include <string_view>

#include "games/textcraft/recipe_book.h"
#include "games/textcraft/recipe_folder.h"
#include "games/textcraft/recipe_text.h"

namespace agentr::testing {

// Small enough to reason about: depths 1 to 3, a tag, an ingredient beside a tag that holds it.
inline RecipeBook SmallBook() {
  constexpr std::string_view kText = R"(
    {wood} = oak birch
    4 {wood}_planks = {wood}_log
    @planks = {wood}_planks
    4 stick = 2 @planks
    ladder = 7 stick
    frame = 2 @planks, oak_planks
    torch = coal, stick
    torch = charcoal, stick
  )";
  return RecipeBook(ParseRecipeText(kText, "small"));
}

inline RecipeBook BuiltInBook() { return RecipeBook(BuiltInRecipes()); }

// The public server's recipes; they lie beside the repository on some machines, never within.
inline std::filesystem::path PublicFolder() {
  return std::filesystem::path(AGENTR_SOURCE_DIR) / "../shared/data/textcraft/recipes";
}

}  // namespace agentr::testing
