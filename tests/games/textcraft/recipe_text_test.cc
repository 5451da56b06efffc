#include "games/textcraft/recipe_text.h"

#include <gmock/gmock.h>

#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

std::string ErrorOf(std::string_view text) {
  return FatalErrorOf(ExitCode::kFile, [&] { ParseRecipeText(text, "book.txt"); });
}

TEST(RecipeTextTest, ReadsARecipe) {
  EXPECT_THAT(
      ParseRecipeText("4 torch = coal, 2 stick  # light\n\n", "book"),
      ElementsAre(SourceRecipe{"minecraft:torch",
                               4,
                               std::nullopt,
                               {{"minecraft:coal", false, 1}, {"minecraft:stick", false, 2}}}));
}

TEST(RecipeTextTest, ASetStandsForALinePerWord) {
  const auto recipes = ParseRecipeText(
      "{bright} = red blue\n{color} = {bright} black\n{size} = small big\n"
      "{size}_{color}_flag = {color}_wool",
      "book");
  ASSERT_EQ(recipes.size(), 6);
  EXPECT_EQ(recipes[0].item, "minecraft:small_red_flag");
  EXPECT_EQ(recipes[1].item, "minecraft:small_blue_flag");
  EXPECT_EQ(recipes[5].item, "minecraft:big_black_flag");
  EXPECT_EQ(recipes[5].ingredients[0].name, "minecraft:black_wool");
}

TEST(RecipeTextTest, MembersOfATagMayStandAboveTheirRecipes) {
  const auto recipes = ParseRecipeText(
      "@planks = oak_planks\nstick = 2 @planks\noak_planks = log\noak_planks = wood", "book");
  EXPECT_EQ(recipes[0].ingredients[0], (SourceIngredient{"minecraft:planks", true, 2}));
  EXPECT_EQ(recipes[1].group, "minecraft:planks");
  EXPECT_EQ(recipes[2].group, "minecraft:planks");
  EXPECT_FALSE(recipes[0].group.has_value());
}

TEST(RecipeTextTest, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("\na = b\nladder 7 stick"),
            "book.txt:3: expected one '=': item = ingredients, {set} = words, or @tag = items");
  EXPECT_EQ(ErrorOf("a = b = c"),
            "book.txt:1: expected one '=': item = ingredients, {set} = words, or @tag = items");
  EXPECT_EQ(ErrorOf("a ="), "book.txt:1: one side of '=' is empty");
  EXPECT_EQ(ErrorOf("{x}_a = b"), "book.txt:1: the set {x} is not defined yet; define it above");
  EXPECT_EQ(ErrorOf("a_{x = b"), "book.txt:1: '{' without '}'");
  EXPECT_EQ(ErrorOf("{x} = a\n{x} = b"), "book.txt:2: the set {x} is defined twice");
  EXPECT_EQ(ErrorOf("{X} = a"),
            "book.txt:1: '{X}' is not the name of a set: expected a-z, 0-9 and _ in braces");
  EXPECT_EQ(ErrorOf("a = 0 b"), "book.txt:1: '0' is not a count from 1 to 64");
  EXPECT_EQ(ErrorOf("a = two b"), "book.txt:1: 'two' is not a count from 1 to 64");
  EXPECT_EQ(ErrorOf("a = b c d"),
            "book.txt:1: 'b c d': expected '[count] name', separated by commas");
  EXPECT_EQ(ErrorOf("a = b,"), "book.txt:1: '': expected '[count] name', separated by commas");
  EXPECT_EQ(ErrorOf("a = Oak"), "book.txt:1: 'Oak' is not a name: expected a-z, 0-9 and _");
  EXPECT_EQ(ErrorOf("2 @a = b"), "book.txt:1: '2 @a': a recipe makes an item, not a tag");
  EXPECT_EQ(ErrorOf("a = b, 2 b"),
            "book.txt:1: 'a = b, 2 b' names an ingredient twice; add the counts");
  EXPECT_EQ(ErrorOf("# nothing"), "book.txt:1: the file contains no recipe");
}

TEST(RecipeTextTest, ErrorsOfTags) {
  EXPECT_EQ(ErrorOf("a = b\n@t = c"),
            "book.txt:2: minecraft:c has no recipe; members of a tag are craftable");
  EXPECT_EQ(ErrorOf("a = b\n@t = a\n@u = a"),
            "book.txt:3: minecraft:a is a member of minecraft:t already");
  EXPECT_EQ(ErrorOf("a = b\nt = c\n@t = a"),
            "book.txt:3: minecraft:t is also an item; give the tag another name");
  EXPECT_EQ(ErrorOf("a = b\nc = @t"),
            "book.txt:2: no line defines minecraft:t: write @tag = items");
}

}  // namespace
}  // namespace agentr
