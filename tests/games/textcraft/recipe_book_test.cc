#include "games/textcraft/recipe_book.h"

#include <gmock/gmock.h>

#include <map>

#include "tasks/task_kinds.h"
#include "tests/games/textcraft/books.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

SourceRecipe Makes(std::string item, std::vector<SourceIngredient> from,
                   std::optional<std::string> group = std::nullopt) {
  return {std::move(item), 1, std::move(group), std::move(from)};
}

RecipeBook Book(const std::vector<SourceRecipe>& recipes) { return RecipeBook(recipes); }

std::vector<std::string> TaskNames(const RecipeBook& book) {
  std::vector<std::string> names;
  for (const NameId task_id : book.tasks()) names.push_back(book.Name(task_id));
  return names;
}

std::map<int, int> TasksByDepth(const RecipeBook& book) {
  std::map<int, int> counts;
  for (const NameId task_id : book.tasks()) ++counts[book.Depth(task_id)];
  return counts;
}

TEST(RecipeBookTest, DropsRecipesOfASingleBlock) {
  const RecipeBook book = Book({Makes("ingot", {{"iron_block"}}), Makes("ring", {{"ingot"}}),
                                Makes("gate", {{"iron_block"}, {"ingot"}})});
  EXPECT_THAT(TaskNames(book), ElementsAre("ring", "gate"));
  EXPECT_TRUE(book.IsItem(*book.Find("ingot")));
  EXPECT_FALSE(book.IsCraftable(*book.Find("ingot")));
}

TEST(RecipeBookTest, DropsTheRecipeThatClosesACircle) {
  const RecipeBook book =
      Book({Makes("b", {{"a"}}), Makes("c", {{"b"}}), Makes("a", {{"c"}}), Makes("a", {{"x"}})});
  EXPECT_THAT(TaskNames(book), ElementsAre("a", "b", "c"));
  EXPECT_EQ(book.recipes().size(), 3);
}

// What b comes to depend on later is not passed on to c, which was accepted before.
TEST(RecipeBookTest, DependenciesAreThoseOfTheMoment) {
  const RecipeBook book = Book({Makes("c", {{"b"}}), Makes("b", {{"a"}}), Makes("a", {{"c"}})});
  EXPECT_EQ(book.recipes().size(), 3);
  EXPECT_EQ(book.Depth(*book.Find("a")), RecipeBook::kNoDepth);
  EXPECT_TRUE(book.tasks().empty());
}

TEST(RecipeBookTest, DepthIsTheEasiestRecipesHardestIngredient) {
  const RecipeBook book =
      Book({Makes("b", {{"a"}}), Makes("c", {{"b"}}), Makes("d", {{"c"}, {"a"}}),
            Makes("d", {{"b"}}), Makes("e", {{"d"}, {"c"}})});
  EXPECT_EQ(book.Depth(*book.Find("a")), 0);
  EXPECT_EQ(book.Depth(*book.Find("b")), 1);
  EXPECT_EQ(book.Depth(*book.Find("d")), 2);
  EXPECT_EQ(book.Depth(*book.Find("e")), 3);
  EXPECT_THAT(TaskNames(book), ElementsAre("b", "c", "d", "e"));
}

TEST(RecipeBookTest, AGroupIsATag) {
  const RecipeBook book =
      Book({Makes("oak_planks", {{"oak_log"}}, "planks"), Makes("stick", {{"planks", true, 2}})});
  const NameId planks = *book.Find("planks");
  EXPECT_TRUE(book.IsTag(planks));
  EXPECT_TRUE(book.IsCraftable(planks));
  EXPECT_TRUE(book.IsMember(*book.Find("oak_planks"), planks));
  EXPECT_EQ(book.Depth(planks), 1);
  EXPECT_EQ(book.Depth(*book.Find("stick")), 2);
}

TEST(RecipeBookTest, TheLastGroupOfAnItemWins) {
  const RecipeBook book = Book({Makes("x", {{"a"}}, "first"), Makes("x", {{"b"}}, "second")});
  EXPECT_FALSE(book.IsMember(*book.Find("x"), *book.Find("first")));
  EXPECT_TRUE(book.IsMember(*book.Find("x"), *book.Find("second")));
}

TEST(RecipeBookTest, AGroupWithTheItemsOwnNameIsNoTag) {
  const RecipeBook book = Book({Makes("bed", {{"wool"}}, "bed")});
  EXPECT_FALSE(book.IsTag(*book.Find("bed")));
  EXPECT_EQ(book.Depth(*book.Find("bed")), 1);
}

TEST(RecipeBookTest, ATagWithoutCraftableMembersBecomesAnItem) {
  const RecipeBook book = Book({Makes("planks", {{"logs", true, 1}})});
  EXPECT_FALSE(book.IsTag(*book.Find("logs")));
  EXPECT_TRUE(book.IsItem(*book.Find("logs")));
  EXPECT_FALSE(book.recipes()[0].ingredients[0].tag);
}

TEST(RecipeBookTest, ACircleThroughATagHasNoDepth) {
  const RecipeBook book = Book({Makes("red_wool", {{"wool", true, 1}}, "wool")});
  EXPECT_EQ(book.Depth(*book.Find("red_wool")), RecipeBook::kNoDepth);
  EXPECT_TRUE(book.tasks().empty());
}

TEST(RecipeBookTest, UsesNameEachRecipeOnce) {
  const RecipeBook book = testing::SmallBook();
  EXPECT_THAT(book.UsesOf(*book.Find("minecraft:stick")), ElementsAre(3, 5, 6));
  EXPECT_THAT(book.UsesOf(*book.Find("minecraft:planks")), ElementsAre(2, 4));
}

TEST(RecipeBookTest, TheDumpTellsBooksApart) {
  const std::string dump = testing::SmallBook().CanonicalDump();
  EXPECT_EQ(dump, testing::SmallBook().CanonicalDump());
  EXPECT_NE(dump, Book({Makes("b", {{"a"}})}).CanonicalDump());
  EXPECT_NE(Book({Makes("b", {{"a", false, 1}})}).CanonicalDump(),
            Book({Makes("b", {{"a", false, 2}})}).CanonicalDump());
}

TEST(RecipeBookTest, TheBuiltInBook) {
  const std::vector<SourceRecipe> source = BuiltInRecipes();
  const RecipeBook book(source);
  EXPECT_EQ(book.recipes().size(), source.size()) << "a line of the book is dropped";
  EXPECT_THAT(TasksByDepth(book), ElementsAre(Pair(1, 159), Pair(2, 203), Pair(3, 183), Pair(4, 77),
                                              Pair(5, 28), Pair(6, 8)));
  EXPECT_EQ(book.Name(book.tasks()[0]), "minecraft:oak_planks");
}

TEST(RecipeBookTest, ThePublicBook) {
  if (!exists(testing::PublicFolder())) GTEST_SKIP() << "the public recipes are not here";
  const RecipeBook book(ReadRecipeFolder(testing::PublicFolder()));
  EXPECT_EQ(book.recipes().size(), 613);
  EXPECT_EQ(book.tasks().size(), 544);
  EXPECT_THAT(TasksByDepth(book),
              ElementsAre(Pair(1, 125), Pair(2, 291), Pair(3, 117), Pair(4, 11)));
  EXPECT_EQ(book.Name(book.tasks()[0]), "minecraft:acacia_planks");
  EXPECT_TRUE(book.IsItem(*book.Find("minecraft:acacia_logs")));
}

}  // namespace
}  // namespace agentr
