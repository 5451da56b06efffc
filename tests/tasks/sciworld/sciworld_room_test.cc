#include "tasks/sciworld/sciworld_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tasks/sciworld/sciworld_conversation.h"
#include "tasks/sciworld/sciworld_family.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kKitchen =
    "This room is called the kitchen. In it, you see: \n"
    "\tthe agent\n"
    "\ta substance called air\n"
    "\ta thermometer, currently reading a temperature of 10 degrees celsius\n"
    "\ta counter. On the counter is: a bowl (containing an orange, a red apple), a drawer.\n"
    "\ta freezer. The freezer door is closed. \n"
    "\ta stove, which is turned off. On the stove is: nothing.\n"
    "\ta glass jar (containing a substance called sodium chloride)\n"
    "You also see:\n"
    "\tA door to the outside (that is closed)\n"
    "\tA door to the living room (that is open)\n";

TEST(SciWorldRoom, NamesThingsAsActionsDo) {
  std::string one_line = kKitchen;
  std::ranges::replace_if(
      one_line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  for (const std::string& text :
       {kKitchen, one_line, "Task description:\nYour task.\n" + kKitchen}) {
    const auto room = ReadSciWorldRoom(text);
    ASSERT_TRUE(room);
    EXPECT_EQ(room->name, "kitchen");
    EXPECT_THAT(room->things,
                ElementsAre("thermometer", "counter", "bowl", "orange", "red apple", "drawer",
                            "freezer", "stove", "glass jar", "sodium chloride"));
    EXPECT_THAT(room->doors, ElementsAre("outside", "living room"));
  }
}

TEST(SciWorldRoom, TheOutsideIsOne) {
  const auto outside = ReadSciWorldRoom(
      "This outside location is called the outside. Here you see: \n\ta fountain\nYou also see:\n"
      "\tA door to the foundry (that is closed)\n");
  EXPECT_EQ(outside->name, "outside");
  EXPECT_THAT(outside->things, ElementsAre("fountain"));
  EXPECT_THAT(outside->doors, ElementsAre("foundry"));
}

TEST(SciWorldRoom, OtherRepliesShowNone) {
  for (const char* text : {"", "You move to the kitchen.", "The door is closed."}) {
    EXPECT_FALSE(ReadSciWorldRoom(text)) << text;
  }
}

TEST(SciWorldRoom, ReadsInventoriesAndMoves) {
  EXPECT_THAT(*ReadSciWorldInventory("In your inventory, you see:\n\tan orange\n\ta red wire\n"),
              ElementsAre("orange", "red wire"));
  EXPECT_THAT(*ReadSciWorldInventory("In your inventory, you see:\n"), IsEmpty());
  EXPECT_FALSE(ReadSciWorldInventory("You see an orange."));
  EXPECT_EQ(ReadSciWorldMove("You move to the art studio."), "art studio");
  EXPECT_EQ(ReadSciWorldMove("You move the orange to the inventory."), "");
}

TEST(SciWorldConversation, KnowsWhereTheAgentStandsAndWhatItHolds) {
  const std::vector<Message> conversation = {
      {"user", "You are a lab assistant."},
      {"assistant", "Ok."},
      {"user", "Task description:\nYour task is to boil water. " + kKitchen},
      {"assistant", "Action: Pick up orange"},
      {"user", "You move the orange to the inventory."},
      {"assistant", "Action: go to living room"},
      {"user", "You move to the living room."},
      {"assistant", "Action: dance"},
      {"user", "No known action matches that input."}};
  const auto view = ReadSciWorld(conversation);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->start, "kitchen");
  EXPECT_EQ(view->room, "living room");
  EXPECT_THAT(view->Here().things, IsEmpty()) << "not looked at yet";
  EXPECT_EQ(view->rooms.at("kitchen").doors.size(), 2u);
  EXPECT_THAT(view->held, ElementsAre("orange"));
  EXPECT_THAT(view->actions, ElementsAre("pick up orange", "go to living room", "dance"));
  EXPECT_EQ(view->wasted_turns, 1);
  EXPECT_EQ(view->failed_action, "dance");
  EXPECT_FALSE(view->ambiguous);
  EXPECT_FALSE(ReadSciWorld(std::span(conversation).first(2)));
}

TEST(SciWorldConversation, AQuestionOfTheGameStaysOpenAfterTask) {
  std::vector<Message> conversation = {
      {"user", "Task description:\nYour task is to boil water. " + kKitchen},
      {"assistant", "Action: open door"},
      {"user", "Ambiguous request: Please enter the number for the action you intended: 0: x"}};
  EXPECT_TRUE(ReadSciWorld(conversation)->ambiguous);
  conversation.insert(conversation.end(), {{"assistant", "Action: task"}, {"user", "ok."}});
  EXPECT_TRUE(ReadSciWorld(conversation)->ambiguous);
  EXPECT_THAT(SciWorldFamily().LikelyUnchanged(conversation, std::vector<std::string>{"0"}),
              ElementsAre(false));
  conversation.insert(conversation.end(),
                      {{"assistant", "Action: inventory"}, {"user", "Unknown action."}});
  EXPECT_FALSE(ReadSciWorld(conversation)->ambiguous) << "taken for a wrong answer";
}

}  // namespace
}  // namespace agentr
