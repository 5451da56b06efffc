#include "games/textcraft/textcraft.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "common/error.h"
#include "common/hash.h"
#include "common/random.h"
#include "games/textcraft/textcraft_prompt.h"
#include "tests/games/textcraft/books.h"

namespace agentr {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// One episode of the small book; its tasks: oak_planks, birch_planks, stick, frame, ladder, torch.
class TextCraftTest : public ::testing::Test {
 protected:
  std::string Play(std::string_view action) {
    game_.Step(state_, action);
    return state_.observation;
  }

  const TextCraft game_{testing::SmallBook()};
  TextCraftState state_ = game_.Start(0);
};

TEST_F(TextCraftTest, Get) {
  EXPECT_EQ(Play("get 2 oak log"), "Got 2 oak log");
  EXPECT_EQ(Play("get 007 oak log"), "Got 7 oak log");
  EXPECT_EQ(Play("get 1 oak_log"), "Got 1 oak_log");
  EXPECT_EQ(Play("inventory"), "Inventory: [oak log] (10) ");
}

TEST_F(TextCraftTest, GetRefusesWhatIsCraftableATagOrUnknown) {
  EXPECT_EQ(Play("get 1 stick"), "Could not find stick");
  EXPECT_EQ(Play("get 1 planks"), "Could not find planks");
  EXPECT_EQ(Play("get 1 Oak Log"), "Could not find Oak Log");
  EXPECT_EQ(Play("get 1 "), "Could not find ");
  EXPECT_EQ(Play("get 1  coal"), "Could not find  coal");
}

// A tag may have no recipe left, and an item's name as well.
TEST(TextCraftTagTest, GetRefusesATagThatIsAnItemToo) {
  const std::vector<SourceRecipe> recipes = {
      {"minecraft:b", 1, std::nullopt, {{"minecraft:a"}}},
      {"minecraft:a", 1, "minecraft:t", {{"minecraft:b"}}},  // closes a circle: dropped
      {"minecraft:c", 1, std::nullopt, {{"minecraft:t"}}}};
  const TextCraft game{RecipeBook(recipes)};
  TextCraftState state = game.Start(0);
  game.Step(state, "get 1 t");
  EXPECT_EQ(state.observation, "Could not find t");
}

TEST_F(TextCraftTest, GetWantsANumber) {
  EXPECT_EQ(Play("get oak log"), "Could not execute get oak log");
  EXPECT_EQ(Play("get -1 oak log"), "Could not execute get -1 oak log");
  EXPECT_EQ(Play("get 2"), "Could not execute get 2");
}

TEST_F(TextCraftTest, GetNoneAndGetManyMoreThanThereAre) {
  EXPECT_EQ(Play("get 0 coal"), "Got 0 coal");
  EXPECT_EQ(Play("inventory"), "Inventory: [coal] (0) ");
  EXPECT_EQ(Play("get 9223372036854775806 oak log"), "Got 9223372036854775806 oak log");
  EXPECT_EQ(Play("get 1 oak log"), "Got 1 oak log");
  EXPECT_EQ(Play("inventory"), "Inventory: [coal] (0) [oak log] (9223372036854775807) ");
  // What would not fit is refused, and nothing is held of it.
  EXPECT_EQ(Play("get 1 oak log"), "Could not execute get 1 oak log");
  EXPECT_EQ(Play("get 9223372036854775808 birch log"),
            "Could not execute get 9223372036854775808 birch log");
  EXPECT_EQ(Play("inventory"), "Inventory: [coal] (0) [oak log] (9223372036854775807) ");
  EXPECT_EQ(Play("get 00 coal"), "Got 0 coal");
}

TEST_F(TextCraftTest, InventoryInOrderOfArrival) {
  EXPECT_EQ(Play("inventory"), "Inventory: You are not carrying anything.");
  Play("get 1 oak log");
  Play("get 2 coal");
  EXPECT_EQ(Play("inventory please"), "Inventory: [oak log] (1) [coal] (2) ");
  Play("craft 4 oak planks using 1 oak log");
  EXPECT_EQ(Play("inventory"), "Inventory: [coal] (2) [oak planks] (4) ");
  Play("get 1 oak log");  // used up, it comes back at the end
  EXPECT_EQ(Play("inventory"), "Inventory: [coal] (2) [oak planks] (4) [oak log] (1) ");
}

TEST(TextCraftInventoryTest, IsShownBehindEveryReplyWhereThatIsAskedFor) {
  const TextCraft game(testing::SmallBook(), /*show_inventory=*/true);
  TextCraftState state = game.Start(0);
  const auto play = [&](std::string_view action) {
    game.Step(state, action);
    return state.observation;
  };
  EXPECT_EQ(play("craft 4 oak planks using 1 oak log"),
            "Could not find enough items to craft minecraft:oak_planks\n"
            "Inventory: You are not carrying anything.");
  EXPECT_EQ(play("get 2 oak log"), "Got 2 oak log\nInventory: [oak log] (2) ");
  EXPECT_EQ(play("inventory"), "Inventory: [oak log] (2) ");
  EXPECT_EQ(play("craft 4 oak planks using 1 oak log"),
            "Crafted 4 minecraft:oak_planks\nInventory: [oak log] (1) [oak planks] (4) ");
  EXPECT_TRUE(state.done);
  EXPECT_NE(game.DataHash(), TextCraft(testing::SmallBook()).DataHash());
}

TEST_F(TextCraftTest, WhiteSpaceAroundIngredientsIsPythons) {
  Play("get 2 oak log");
  EXPECT_EQ(Play("craft 4 oak planks using \u00a01 oak log\u3000\x1f"),
            "Crafted 4 minecraft:oak_planks");
  EXPECT_EQ(Play("craft 4 oak planks using \u2028\u0085\t1 oak log"),
            "Crafted 4 minecraft:oak_planks");
  EXPECT_EQ(Play("craft 4 oak planks using \u200b1 oak log"),  // no white space
            "Wrong item format: \u200b1 oak log");
}

TEST_F(TextCraftTest, CraftGivesTheRecipesCount) {
  Play("get 3 oak log");
  EXPECT_EQ(Play("craft 4 oak planks using 1 oak log"), "Crafted 4 minecraft:oak_planks");
  EXPECT_EQ(Play("craft 99 oak planks using 1 oak log"), "Crafted 4 minecraft:oak_planks");
  EXPECT_EQ(Play("craft oak planks using 1 oak log"), "Crafted 4 minecraft:oak_planks");
  EXPECT_EQ(Play("inventory"), "Inventory: [oak planks] (12) ");
}

TEST_F(TextCraftTest, WrongItemFormatComesFirst) {
  EXPECT_EQ(Play("craft 4 stick using planks"), "Wrong item format: planks");
  EXPECT_EQ(Play("craft 4 stick using 2 planks,  some wood ,"), "Wrong item format: some wood");
  EXPECT_EQ(Play("craft 4 stick using 2 planks, "), "Wrong item format: ");
  EXPECT_EQ(Play("craft 4 stick using "), "Wrong item format: ");
  EXPECT_EQ(Play("craft 4 stick using 2"), "Wrong item format: 2");
}

TEST_F(TextCraftTest, NotEnoughItemsComesSecond) {
  EXPECT_EQ(Play("craft 1 nonsense using 1 oak log"),
            "Could not find enough items to craft minecraft:nonsense");
  Play("get 2 oak log");
  EXPECT_EQ(Play("craft 4 oak planks using 3 oak log"),
            "Could not find enough items to craft minecraft:oak_planks");
  Play("craft 4 oak planks using 1 oak log");
  EXPECT_EQ(Play("craft 4 stick using 2 planks"),  // a tag is never held
            "Could not find enough items to craft minecraft:stick");
  EXPECT_EQ(Play("craft 1 planks using 9 oak log"), "Could not find enough items to craft None");
}

TEST_F(TextCraftTest, NoValidRecipeComesThird) {
  Play("get 9 oak log");
  Play("get 1 coal");
  const std::string kNo =
      "Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag(tag=None, "
      "item_id='minecraft:{}'), count={})";
  EXPECT_EQ(Play("craft 4 oak planks using 2 oak log"),
            fmt::format(fmt::runtime(kNo), "oak_planks", 4));
  EXPECT_EQ(Play("craft oak planks using 1 coal"), fmt::format(fmt::runtime(kNo), "oak_planks", 1));
  EXPECT_EQ(Play("craft 008 oak planks using 1 oak log, 1 coal"),
            fmt::format(fmt::runtime(kNo), "oak_planks", 8));
  EXPECT_EQ(Play("craft 4 oak planks using 1 oak log, 1 oak log"),
            fmt::format(fmt::runtime(kNo), "oak_planks", 4));
  EXPECT_EQ(Play("craft 1 coal using 1 oak log"), fmt::format(fmt::runtime(kNo), "coal", 1));
  EXPECT_EQ(Play("craft 5 using 1 oak log"), fmt::format(fmt::runtime(kNo), "5", 1));
  EXPECT_EQ(Play("craft 1 x using y using 1 oak log"),
            fmt::format(fmt::runtime(kNo), "x_using_y", 1));
  EXPECT_EQ(Play("craft 2 planks using 1 oak log"),
            "Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag("
            "tag='minecraft:planks', item_id=None), count=2)");
  EXPECT_THAT(Play("craft jack's using 1 coal"), HasSubstr("item_id=\"minecraft:jack's\""));
  // Python's repr escapes what cannot be printed.
  EXPECT_THAT(Play("craft ender\u200bpearl using 1 coal"),
              HasSubstr(R"(item_id='minecraft:ender\u200bpearl')"));
}

TEST_F(TextCraftTest, ATagTakesAnyMemberButOnlyOne) {
  Play("get 2 oak log");
  Play("get 1 birch log");
  Play("craft 4 oak planks using 1 oak log");
  Play("craft 4 birch planks using 1 birch log");
  EXPECT_EQ(Play("craft 4 stick using 2 birch planks"), "Crafted 4 minecraft:stick");
  EXPECT_EQ(Play("craft 4 stick using 2 oak planks"), "Crafted 4 minecraft:stick");
  EXPECT_THAT(Play("craft 4 stick using 1 oak planks, 1 birch planks"),
              StartsWith("Could not find a valid recipe"));
}

// `frame` takes 2 of the tag and 1 oak planks: both parts may name oak planks, and then each is
// checked by itself before, and both together after the recipe has been found.
TEST_F(TextCraftTest, TwoPartsOfTheSameItem) {
  Play("get 1 oak log");
  Play("craft 4 oak planks using 1 oak log");
  EXPECT_EQ(Play("craft frame using 2 oak planks, 1 oak planks"), "Crafted 1 minecraft:frame");
  Play("get 1 oak log");
  Play("craft 4 oak planks using 1 oak log");
  Play("craft 4 stick using 2 oak planks");
  EXPECT_EQ(Play("inventory"), "Inventory: [oak planks] (3) [frame] (1) [stick] (4) ");
  Play("craft frame using 2 oak planks, 1 oak planks");
  Play("get 2 birch log");
  Play("craft 4 birch planks using 1 birch log");
  EXPECT_EQ(Play("craft frame using 1 oak planks, 2 birch planks"),
            "Could not find enough items to craft minecraft:frame");
}

TEST_F(TextCraftTest, TwoPartsThatAreNotHeldTogether) {
  Play("get 1 oak log");
  Play("craft 4 oak planks using 1 oak log");
  Play("craft 4 stick using 2 oak planks");
  const auto before = state_.inventory;
  EXPECT_EQ(Play("craft frame using 2 oak planks, 1 oak planks"),
            "Could not find enough items to craft minecraft:frame");
  EXPECT_EQ(state_.inventory, before);
}

TEST_F(TextCraftTest, AnyOfAnItemsRecipes) {
  for (const char* action : {"get 1 oak log", "craft 4 oak planks using 1 oak log",
                             "craft 4 stick using 2 oak planks", "get 1 charcoal"}) {
    Play(action);
  }
  EXPECT_EQ(Play("craft torch using 1 stick, 1 charcoal"), "Crafted 1 minecraft:torch");
}

TEST_F(TextCraftTest, AnythingElse) {
  EXPECT_EQ(Play("look around"), "Could not execute look around");
  EXPECT_EQ(Play(""), "Could not execute ");
  EXPECT_EQ(Play("Inventory"), "Could not execute Inventory");
  EXPECT_EQ(Play(" inventory"), "Could not execute  inventory");
  EXPECT_EQ(Play("craft using 1 coal"), "Could not execute craft using 1 coal");
  EXPECT_EQ(Play("craft stick"), "Could not execute craft stick");
  EXPECT_EQ(Play("craft stick\nusing 1 coal"), "Could not execute craft stick\nusing 1 coal");
  EXPECT_EQ(Play("craft  using 1 coal"), "Could not find enough items to craft minecraft:");
}

TEST_F(TextCraftTest, RewardInEveryStepThatCraftsTheGoal) {
  Play("get 2 oak log");
  EXPECT_FALSE(state_.done);
  Play("craft 4 oak planks using 1 oak log");
  EXPECT_TRUE(state_.done);
  Play("inventory");
  EXPECT_FALSE(state_.done);
  Play("craft 4 oak planks using 1 oak log");
  EXPECT_TRUE(state_.done);
  Play("craft 4 oak planks using 1 oak log");
  EXPECT_FALSE(state_.done);
}

TEST_F(TextCraftTest, TasksCountRound) {
  ASSERT_EQ(game_.task_count(), 6);
  EXPECT_EQ(game_.TaskOf(7), 1);
  EXPECT_EQ(game_.TaskOf(-1), 5);
  EXPECT_EQ(game_.TaskOf(std::numeric_limits<int64_t>::min()), 4);
}

// What the search relies on to save calls.
TEST(TextCraftPropertyTest, RefusalsAndInventoryLeaveTheStateUnchanged) {
  const TextCraft game(testing::SmallBook());
  const std::vector<std::string> starts = {"get 1 ",   "get 2 ",    "craft ",
                                           "craft 4 ", "inventory", "look "};
  const std::vector<std::string> items = {"oak planks", "stick", "planks", "oak log",
                                          "coal",       "frame", "torch",  "birch planks"};
  const std::vector<std::string> links = {" using 1 ", " using 2 ", ", 1 ", ", 2 ", ",", " "};
  RandomStream random(7);
  TextCraftState state = game.Start(0);
  int changed = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string action = random.Pick(starts) + random.Pick(items);
    for (uint64_t n = random.Below(4); n > 0; --n) {
      action += random.Pick(links) + random.Pick(items);
    }
    const auto before = state.inventory;
    game.Step(state, action);
    const std::string& reply = state.observation;
    const bool unchanged = reply.starts_with("Could not") || reply.starts_with("Wrong item") ||
                           reply.starts_with("Inventory:");
    if (unchanged) {
      ASSERT_EQ(state.inventory, before) << action << " -> " << reply;
    } else {
      changed += state.inventory != before;
    }
    for (const ItemStack& stack : state.inventory) ASSERT_GE(stack.count, 0);
  }
  EXPECT_GT(changed, 1000);
}

// Crafts everything that a goal needs, by the book.
class Planner {
 public:
  Planner(const TextCraft& game, TextCraftState& state) : game_(game), state_(state) {}

  // Sees to `count` more of the name, or of a member of the tag. The item it is.
  NameId Make(NameId name, int count) {
    const RecipeBook& book = game_.book();
    if (!book.IsCraftable(name)) {
      Play(fmt::format("get {} {}", count, DisplayName(book.Name(name))));
      return name;
    }
    const Recipe& recipe = book.recipes()[Easiest(name)];
    for (int made = 0; made < count; made += recipe.count) {
      std::vector<std::string> parts;
      for (const Ingredient& part : recipe.ingredients) {
        const NameId item = Make(part.name, part.count);
        parts.push_back(fmt::format("{} {}", part.count, DisplayName(book.Name(item))));
      }
      Play(fmt::format("craft {} {} using {}", recipe.count, DisplayName(book.Name(recipe.item)),
                       fmt::join(parts, ", ")));
    }
    return recipe.item;
  }

 private:
  uint32_t Easiest(NameId name) const {
    const RecipeBook& book = game_.book();
    const auto depth = [&](uint32_t r) {
      int deepest = 0;
      for (const Ingredient& part : book.recipes()[r].ingredients) {
        deepest = std::max(deepest, book.Depth(part.name));
      }
      return deepest;
    };
    return *std::ranges::min_element(book.RecipesOf(name), {}, depth);
  }

  void Play(const std::string& action) {
    game_.Step(state_, action);
    EXPECT_THAT(state_.observation, ::testing::AnyOf(StartsWith("Got"), StartsWith("Crafted")))
        << action;
  }

  const TextCraft& game_;
  TextCraftState& state_;
};

void ExpectEveryTaskCanBeSolved(const TextCraft& game) {
  for (uint32_t task_id = 0; task_id < game.task_count(); ++task_id) {
    TextCraftState state = game.Start(task_id);
    Planner(game, state).Make(game.book().tasks()[task_id], 1);
    ASSERT_TRUE(state.done) << game.Prompt(task_id);
  }
}

TEST(TextCraftBooksTest, EveryTaskOfTheBuiltInBookCanBeSolved) {
  ExpectEveryTaskCanBeSolved(TextCraft(testing::BuiltInBook()));
}

TEST(TextCraftBooksTest, EveryTaskOfThePublicBookCanBeSolved) {
  if (!exists(testing::PublicFolder())) GTEST_SKIP() << "the public recipes are not here";
  ExpectEveryTaskCanBeSolved(TextCraft(RecipeBook(ReadRecipeFolder(testing::PublicFolder()))));
}

std::vector<std::string> Lines(const std::string& prompt) {
  std::istringstream in(prompt);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TextCraftPromptTest, ShowsTheWayAndAtMostTenOthers) {
  const TextCraft game(testing::BuiltInBook());
  for (uint32_t task_id = 0; task_id < game.task_count(); ++task_id) {
    std::vector<std::string> lines = Lines(game.Prompt(task_id));
    const std::string goal = DisplayName(game.book().Name(game.book().tasks()[task_id]));
    ASSERT_EQ(lines.front(), "Crafting commands:");
    ASSERT_EQ(lines.back(), fmt::format("Goal: craft {}.", goal));
    ASSERT_EQ(lines[lines.size() - 2], "");
    const std::set<std::string> distinct(lines.begin(), lines.end());
    ASSERT_EQ(distinct.size(), lines.size()) << game.Prompt(task_id);
    ASSERT_THAT(lines, Contains(HasSubstr(fmt::format(" {} using ", goal))));
  }
}

TEST(TextCraftPromptTest, AllRecipesOnTheWay) {
  const TextCraft game(testing::SmallBook());
  const std::string& ladder = game.Prompt(4);
  EXPECT_THAT(ladder, HasSubstr("craft 1 ladder using 7 stick\n"));
  EXPECT_THAT(ladder, HasSubstr("craft 4 stick using 2 planks\n"));
  EXPECT_THAT(ladder, HasSubstr("craft 4 oak planks using 1 oak log\n"));
  EXPECT_THAT(ladder, HasSubstr("craft 4 birch planks using 1 birch log\n"));
  EXPECT_THAT(ladder, HasSubstr("craft 1 frame using 2 planks, 1 oak planks\n"));  // another use
  EXPECT_THAT(ladder, HasSubstr("\n\nGoal: craft ladder."));
}

TEST(TextCraftPromptTest, TwoGamesOfABookAreTheSame) {
  const TextCraft one(testing::BuiltInBook());
  const TextCraft other(testing::BuiltInBook());
  ASSERT_EQ(one.task_count(), other.task_count());
  for (uint32_t task_id = 0; task_id < one.task_count(); ++task_id) {
    ASSERT_EQ(one.Prompt(task_id), other.Prompt(task_id));
  }
  EXPECT_EQ(one.DataHash(), other.DataHash());
  EXPECT_NE(one.DataHash(), TextCraft(testing::SmallBook()).DataHash());
}

// The texts that runs and published figures refer to. A change of the book or of the drawing shows
// here: raise TextCraft::kPromptVersion for the latter, and take over what the test prints.
TEST(TextCraftPromptTest, GoldenTextsOfTheBuiltInBook) {
  const TextCraft game(testing::BuiltInBook());
  EXPECT_EQ(game.Prompt(0),
            "Crafting commands:\n"
            "craft 1 campfire using 3 stick, 1 coal, 3 oak log\n"
            "craft 3 oak wood using 4 oak log\n"
            "craft 4 oak planks using 1 oak log\n"
            "craft 1 smoker using 4 oak log, 1 furnace\n"
            "craft 1 soul campfire using 3 stick, 1 soul sand, 3 oak log\n"
            "\n"
            "Goal: craft oak planks.");
  std::string all;
  for (uint32_t task_id = 0; task_id < game.task_count(); ++task_id) all += game.Prompt(task_id);
  EXPECT_EQ(Sha256(all), "222987b0fce20c9b4bbbbbf8da56803a6ddcb4436d2d25f17cce0eaed66d3313");
  EXPECT_EQ(game.DataHash(), "671a658752d675dcc3b286015bf8fadc1da2bbe67155765b104381eef8f57dc2");
}

TEST(TextCraftTestOfBooks, ABookWithoutTasksIsRefused) {
  EXPECT_THROW(TextCraft(RecipeBook({})), FatalError);
}

}  // namespace
}  // namespace agentr
