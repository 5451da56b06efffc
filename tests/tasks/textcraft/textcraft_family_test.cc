#include "tasks/textcraft/textcraft_family.h"

#include <gmock/gmock.h>

#include "common/error.h"
#include "tasks/prompt_file.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

struct ParseCase {
  std::string response;
  std::string action;
};

TEST(TextCraftFamily, ParsesActions) {
  const std::vector<ParseCase> cases = {
      {"Thought: I need logs.\nAction: get 1 oak logs", "get 1 oak logs"},
      {"Thought: I need logs.\n\nAction:\nget 1 oak logs\n", "get 1 oak logs"},
      {"Action: get 1 a\nAction: get 2 b", "get 2 b"},
      {"Thought: go.\nAction 1: get 1 oak logs", "get 1 oak logs"},
      {"Thought: go.\nAction 12: get 1 oak logs", "get 1 oak logs"},
      {"Action: 1. get 1 oak logs", "get 1 oak logs"},
      {"Action: 3 oak logs", "3 oak logs"},
      {"Actions are hard.\nAction: inventory", "inventory"},
      {"Action: inventory\nAction without a colon", "inventoryAction without a colon"},
      {"I get it.\n  get 1 oak logs  \n\n", "get 1 oak logs"},
      {"get 1 oak logs", "get 1 oak logs"},
      {"1. get 1 oak logs", "get 1 oak logs"},
      {"Action: craft 1 x using 2 y,  3 z.", "craft 1 x using 2 y, 3 z"},
      {"Action: `get 1  oak_logs`", "get 1 oaklogs"},
      {"Action: \"get 1 b\xc3\xa9ton\"", "get 1 bton"},
      {"Action:", ""},
      {"", ""},
      {" \n ", ""},
  };
  for (const ParseCase& c : cases) {
    EXPECT_EQ(TextCraftFamily().ParseAction(c.response), c.action) << c.response;
  }
}

TEST(TextCraftFamily, RefusalsAndInventoryLeaveTheStateUnchanged) {
  const TextCraftFamily family;
  for (const char* reply :
       {"Could not find oak planks", "Could not find enough items to craft minecraft:stick",
        "Could not find a valid recipe for ItemTagWithCount(…)", "Could not execute jump",
        "Wrong item format: planks", "Inventory: You are not carrying anything."}) {
    EXPECT_TRUE(family.LeavesStateUnchanged("", "craft", reply)) << reply;
  }
  for (const char* reply : {"Got 1 oak logs", "Crafted 4 minecraft:stick", ""}) {
    EXPECT_FALSE(family.LeavesStateUnchanged(reply, "inventory", reply)) << reply;
  }
}

TEST(TextCraftFamily, RefusesWhatItCouldNotDo) {
  const TextCraftFamily family;
  for (const char* reply :
       {"Could not find oak planks", "Could not find enough items to craft minecraft:stick",
        "Could not find a valid recipe for ItemTagWithCount(…)", "Could not execute jump",
        "Wrong item format: planks"}) {
    EXPECT_TRUE(family.IsRefusal("Crafting commands:", "craft", reply)) << reply;
  }
  for (const char* reply : {"Got 1 oak logs", "Crafted 4 minecraft:stick", "",
                            "Inventory: You are not carrying anything.", "It Could not"}) {
    EXPECT_FALSE(family.IsRefusal("Could not execute jump", "craft", reply)) << reply;
  }
}

TEST(TextCraftFamily, GuessesWhichActionsChangeNothing) {
  const std::vector<Message> history = {
      {"user",
       "Crafting commands:\ncraft 4 oak planks using 1 oak logs\ncraft 1 chest using 8 planks\n\n"
       "Goal: craft chest."},
      {"assistant", "Action: get 3 oak logs"},
      {"user", "Got 3 oak logs"},
      {"assistant", "Action: craft 4 oak planks using 1 oak logs"},
      {"user", "Crafted 4 minecraft:oak_planks"}};
  const std::vector<std::string> unchanged = {
      "inventory",
      "jump",
      "",
      "get 2 oak planks",                      // a command makes them
      "get 1 diamond",                         // in no command
      "craft 1 chest using 8 oak planks",      // only 4 are held
      "craft 4 oak planks using 2 oak logs",   // the wrong amount
      "craft 1 oak logs using 1 oak planks"};  // no such command
  const std::vector<std::string> changed = {"get 1 oak logs",
                                            "craft 4 oak planks using 1 oak logs"};
  const TextCraftFamily family;
  EXPECT_THAT(family.LikelyUnchanged(history, unchanged), ::testing::Each(true));
  EXPECT_THAT(family.LikelyUnchanged(history, changed), ::testing::Each(false));
}

TEST(TextCraftFamily, ANoticeOfTheActionBeforeIsNoPlan) {
  const TextCraftFamily family;
  std::vector<Message> history = {
      {"user",
       "Crafting commands:\ncraft 3 oak door using 6 oak planks\ncraft 4 oak planks using 1 oak "
       "log\n\nGoal: craft oak door."},
      {"assistant", "Thought: I start.\nAction: craft 3 oak door using 6 oak planks"},
      {"user", "Could not find enough items to craft minecraft:oak_door"}};
  const auto fits = [&](const std::string& thought, const std::string& action) {
    return family.hints().ThoughtFits(history, thought, action);
  };
  const std::string notice = "I did craft 3 oak door using 6 oak planks instead of get 2 oak log. ";
  const std::string plan = "oak planks using 1 oak log makes 4: need 2 oak log.";
  EXPECT_TRUE(fits(notice + plan, "get 2 oak log"));
  EXPECT_FALSE(fits(notice + plan, "get 3 oak log"));
  // Of another action it is a plan that names a command which is not shown.
  const std::string other = "I did craft 1 stick using 6 oak planks instead of get 2 oak log. ";
  EXPECT_FALSE(fits(other + plan, "get 2 oak log"));
}

TEST(TextCraftFamily, ANoticeFitsBehindARefusalOnly) {
  const TextCraftFamily family;
  const auto fits = [&](const std::string& answer) {
    const std::vector<Message> history = {
        {"user",
         "Crafting commands:\ncraft 4 oak planks using 1 oak log\n\nGoal: craft oak planks."},
        {"assistant", "Thought: I start.\nAction: get 1 oak log"},
        {"user", answer}};
    return family.hints().ThoughtFits(
        history, "That did not work. oak planks using 1 oak log makes 4: need 1 oak log.",
        "get 1 oak log");
  };
  EXPECT_TRUE(fits("Could not find oak log"));
  EXPECT_FALSE(fits("Got 1 oak log"));
}

TEST(PromptFile, HeadingsOpenMessages) {
  EXPECT_THAT(ParsePromptFile("a comment\n[system]\nBe kind.\n\n[user]\n\nTwo\n\nlines [user]\n\n"
                              "[assistant]\nOk."),
              ElementsAre(Message{"system", "Be kind."}, Message{"user", "Two\n\nlines [user]"},
                          Message{"assistant", "Ok."}));
}

TEST(PromptFile, NeedsAMessage) {
  EXPECT_THROW(ParsePromptFile("only a comment\n"), FatalError);
  EXPECT_THROW(ParsePromptFile(""), FatalError);
}

}  // namespace
}  // namespace agentr
