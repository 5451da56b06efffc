#include "demos/varied_book.h"

#include <gmock/gmock.h>

#include <set>

#include "games/textcraft/recipe_text.h"

namespace agentr {
namespace {

using ::testing::Gt;

VariedRecipes Varied(uint64_t seed) {
  return VaryRecipes(BuiltInRecipes(), DemoWords(), RandomStream(seed));
}

TEST(VariedBookTest, GivesEachNameANewOneOfAsManyWords) {
  const VariedRecipes varied = Varied(1);
  std::set<std::string> new_names;
  int changed = 0;
  for (const auto& [old_name, new_name] : varied.new_names) {
    EXPECT_TRUE(new_names.insert(new_name).second) << new_name << " stands for two";
    EXPECT_EQ(std::ranges::count(old_name, '_'), std::ranges::count(new_name, '_'));
    EXPECT_EQ(old_name.starts_with("minecraft:"), new_name.starts_with("minecraft:"));
    changed += old_name != new_name ? 1 : 0;
  }
  EXPECT_THAT(changed, Gt(0.95 * static_cast<double>(varied.new_names.size())));
}

TEST(VariedBookTest, AWordIsTheSameWordWhereverItStands) {
  const auto names = Varied(2).new_names;
  const auto last = [](const std::string& name) { return name.substr(name.rfind('_') + 1); };
  const auto first = [](const std::string& name) { return name.substr(0, name.find('_')); };
  EXPECT_EQ(last(names.at("minecraft:oak_planks")), last(names.at("minecraft:birch_planks")));
  EXPECT_EQ(first(names.at("minecraft:oak_planks")), first(names.at("minecraft:oak_log")));
  EXPECT_NE(names.at("minecraft:oak_planks"), names.at("minecraft:birch_planks"));
}

TEST(VariedBookTest, HasTasksOfSeveralDepths) {
  const RecipeBook book(Varied(3).recipes);
  EXPECT_THAT(book.tasks().size(), Gt(400u));
  std::set<int> depths;
  for (const NameId task : book.tasks()) depths.insert(book.Depth(task));
  EXPECT_THAT(depths.size(), Gt(3u));
}

TEST(VariedBookTest, ChangesCountsAndIngredients) {
  const std::vector<SourceRecipe> old_recipes = BuiltInRecipes();
  const VariedRecipes varied = Varied(4);
  int counts = 0, others = 0;
  for (size_t i = 0; i < old_recipes.size(); ++i) {
    for (size_t j = 0; j < old_recipes[i].ingredients.size(); ++j) {
      const SourceIngredient& before = old_recipes[i].ingredients[j];
      const SourceIngredient& after = varied.recipes[i].ingredients[j];
      counts += before.count != after.count ? 1 : 0;
      others += varied.new_names.at(before.name) != after.name ? 1 : 0;
    }
  }
  EXPECT_THAT(counts, Gt(100));
  EXPECT_THAT(others, Gt(50));
}

TEST(VariedBookTest, TheSeedDecides) {
  EXPECT_EQ(Varied(5).recipes, Varied(5).recipes);
  EXPECT_NE(Varied(5).recipes, Varied(6).recipes);
}

}  // namespace
}  // namespace agentr
