#include "games/textcraft/recipe_folder.h"

#include <gmock/gmock.h>

#include "games/textcraft/recipe_text.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecipeFolderTest : public ::testing::Test {
 protected:
  static std::string ErrorOf(const std::filesystem::path& folder) {
    return FatalErrorOf(ExitCode::kFile, [&] { ReadRecipeFolder(folder); });
  }

  const ScratchFolder scratch_;
  const std::filesystem::path& folder_ = scratch_.path();
};

TEST_F(RecipeFolderTest, ShapedCountsKeysInThePattern) {
  scratch_.Write("ladder.json",
                 R"({"type": "minecraft:crafting_shaped", "pattern": ["# #", "#Z#", "# #"],
      "key": {"Z": {"tag": "minecraft:planks"}, "#": [{"item": "minecraft:stick"}, {"item": "b"}]},
      "result": {"item": "minecraft:ladder", "count": 3}, "group": "climb"})");
  EXPECT_THAT(
      ReadRecipeFolder(folder_),
      ElementsAre(SourceRecipe{"minecraft:ladder",
                               3,
                               "minecraft:climb",
                               {{"minecraft:planks", true, 1}, {"minecraft:stick", false, 6}}}));
}

TEST_F(RecipeFolderTest, ShapelessAddsEqualIngredientsUp) {
  scratch_.Write("dye.json", R"({"type": "minecraft:crafting_shapeless", "ingredients":
      [{"item": "a"}, {"item": "b"}, [{"item": "a"}, {"item": "c"}]], "result": "dye"})");
  EXPECT_THAT(
      ReadRecipeFolder(folder_),
      ElementsAre(SourceRecipe{"dye", 1, std::nullopt, {{"a", false, 2}, {"b", false, 1}}}));
}

TEST_F(RecipeFolderTest, ReadsInNameOrderAndSkipsWhatIsNoCrafting) {
  const std::string recipe = R"({"type": "minecraft:crafting_shapeless",
      "ingredients": [{"item": "a"}], "result": {"item": ")";
  scratch_.Write("b.json", recipe + R"(second"}})");
  scratch_.Write("a_b.json", recipe + R"(first"}})");
  scratch_.Write("c.json",
                 R"({"type": "minecraft:smelting", "ingredient": {}, "result": "glass"})");
  scratch_.Write("notes.txt", "no JSON");
  const auto recipes = ReadRecipeFolder(folder_);
  ASSERT_EQ(recipes.size(), 2);
  EXPECT_EQ(recipes[0].item, "first");
  EXPECT_EQ(recipes[1].item, "second");
}

TEST_F(RecipeFolderTest, ErrorsNameTheFileAndTheCure) {
  scratch_.Write("broken.json", R"({"type": )");
  EXPECT_THAT(ErrorOf(folder_),
              AllOf(HasSubstr("broken.json"), HasSubstr("is not a Minecraft recipe (parse error"),
                    HasSubstr("--recipes")));
  scratch_.Write("broken.json", R"({"type": "minecraft:crafting_shaped", "pattern": ["#"]})");
  EXPECT_THAT(ErrorOf(folder_), AllOf(HasSubstr("broken.json"), HasSubstr("key")));
}

TEST_F(RecipeFolderTest, AFolderWithoutRecipes) {
  EXPECT_THAT(ErrorOf(folder_), HasSubstr("contains no crafting recipe"));
  EXPECT_THAT(ErrorOf(folder_ / "absent"), AllOf(HasSubstr("absent"), HasSubstr("--recipes")));
}

TEST_F(RecipeFolderTest, WhatIsWrittenIsReadAsTheSameRecipes) {
  const std::vector<SourceRecipe> recipes = {
      {"minecraft:oak_planks", 4, "minecraft:planks", {{"minecraft:oak_log", false, 1}}},
      {"minecraft:ladder", 3, std::nullopt, {{"minecraft:stick", false, 7}}},
      {"minecraft:bed",
       1,
       std::nullopt,
       {{"minecraft:planks", true, 3}, {"minecraft:wool", false, 2}}},
  };
  WriteRecipeFolder(recipes, folder_);
  EXPECT_EQ(ReadRecipeFolder(folder_), recipes);
}

TEST_F(RecipeFolderTest, TheBuiltInBookSurvivesBeingWritten) {
  const std::vector<SourceRecipe> recipes = BuiltInRecipes();
  WriteRecipeFolder(recipes, folder_);
  EXPECT_EQ(ReadRecipeFolder(folder_), recipes);
}

}  // namespace
}  // namespace agentr
