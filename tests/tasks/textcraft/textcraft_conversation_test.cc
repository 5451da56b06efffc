// What a conversation tells about actions. How it is read is in textcraft_planner_test.cc.
#include "tasks/textcraft/textcraft_conversation.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// The last command names no item but "stick": its ingredient is a kind.
constexpr const char* kDoorCommands =
    "craft 4 oak planks using 1 oak log\n"
    "craft 3 oak door using 6 oak planks\n"
    "craft 4 stick using 2 planks";

std::vector<Message> DoorConversation(
    const std::vector<std::pair<std::string, std::string>>& turns) {
  std::vector<Message> messages = {
      {"user", std::string("Crafting commands:\n") + kDoorCommands + "\n\nGoal: craft oak door."}};
  for (const auto& [action, observation] : turns) {
    messages.push_back({"assistant", "Thought: so.\nAction: " + action});
    messages.push_back({"user", observation});
  }
  return messages;
}

TEST(TextCraftConversation, NotesRefusals) {
  const std::vector<Message> messages = DoorConversation(
      {{"get 1 oak planks", "Could not find oak planks"},
       {"craft 4 stick using 2 oak log", "Could not find a valid recipe for 4 stick"},
       {"inventory", "Inventory: You are not carrying anything."}});
  const auto view = ReadTextCraft(messages);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->not_found, ElementsAre(1, 0, 0, 0, 0));
  EXPECT_THAT(view->misfits, ElementsAre(Pair(3, 1)));
  EXPECT_EQ(view->failed_action, "craft 4 stick using 2 oak log");
  EXPECT_EQ(view->wasted_turns, 3);
  std::vector<Message> more = messages;
  more.push_back({"assistant", "Action: get 1 oak log"});
  more.push_back({"user", "Got 1 oak log"});
  EXPECT_EQ(ReadTextCraft(more)->wasted_turns, 0);
}

// As env_server --show_inventory says it, on one line as searches keep it. The turn that brought
// the other log is not in the conversation any more.
TEST(TextCraftConversation, BelievesWhatEveryReplySaysIsHeld) {
  const std::vector<Message> messages = DoorConversation(
      {{"get 1 oak log", "Got 1 oak log Inventory: [oak log] (2) "},
       {"craft 4 oak planks using 1 oak log",
        "Crafted 4 minecraft:oak_planks Inventory: [oak log] (1) [oak planks] (4) "}});
  const auto view = ReadTextCraft(messages);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->held, ElementsAre(4, 1, 0, 0, 0));
  EXPECT_EQ(view->wasted_turns, 0);
  std::vector<Message> more = messages;
  more.push_back({"assistant", "Action: get 1 oak planks"});
  more.push_back({"user", "Could not find oak planks Inventory: [oak log] (1) [oak planks] (4) "});
  const auto refused = ReadTextCraft(more);
  EXPECT_THAT(refused->held, ElementsAre(4, 1, 0, 0, 0));
  EXPECT_EQ(refused->wasted_turns, 1);
  EXPECT_THAT(refused->not_found, ElementsAre(1, 0, 0, 0, 0));
}

TEST(TextCraftConversation, ReadsActionsOfKnownItems) {
  const std::vector<Message> messages = DoorConversation({});
  const auto view = ReadTextCraft(messages);
  const auto get = ReadTextCraftAction(*view, "get 2 oak log");
  ASSERT_TRUE(get);
  EXPECT_EQ(get->verb, TextCraftVerb::kGet);
  EXPECT_EQ(get->item, 1);
  EXPECT_EQ(get->count, 2);
  EXPECT_THAT(get->uses, IsEmpty());
  const auto craft = ReadTextCraftAction(*view, "craft 4 stick using 1 oak log, 2 oak planks");
  ASSERT_TRUE(craft);
  EXPECT_EQ(craft->verb, TextCraftVerb::kCraft);
  EXPECT_EQ(craft->item, 3);
  ASSERT_EQ(craft->uses.size(), 2u);
  EXPECT_EQ(craft->uses[1].item, 0);
  EXPECT_EQ(craft->uses[1].count, 2);
  EXPECT_EQ(ReadTextCraftAction(*view, "get oak log")->count, 1);
  for (const char* other : {"inventory", "get 1 diamond", "craft 1 stick using 1 diamond", ""}) {
    EXPECT_FALSE(ReadTextCraftAction(*view, other)) << other;
  }
}

TEST(TextCraftConversation, ForeseesRefusals) {
  const std::vector<Message> messages = DoorConversation(
      {{"get 6 oak planks", "Got 6 oak planks"}, {"get 1 planks", "Could not find planks"}});
  const auto view = ReadTextCraft(messages);
  for (const char* fine : {"get 1 oak log", "craft 3 oak door using 6 oak planks",
                           "craft 4 stick using 2 oak planks"}) {
    EXPECT_FALSE(LooksRefused(*view, fine)) << fine;
  }
  for (const char* refused :
       {"get 1 oak planks", "get 1 stick", "get 1 planks", "get 1 diamond",
        "craft 4 oak planks using 1 oak log", "craft 3 oak door using 5 oak planks",
        "craft 1 diamond using 1 oak planks", "inventory"}) {
    EXPECT_TRUE(LooksRefused(*view, refused)) << refused;
  }
}

TEST(TextCraftConversation, AddsUpWhatIsMissing) {
  const std::vector<Message> messages = DoorConversation({{"get 1 oak log", "Got 1 oak log"}});
  const auto view = ReadTextCraft(messages);
  const auto missing = [&](const std::vector<std::string>& actions) {
    std::vector<std::pair<std::string, int>> named;
    for (const ItemCount& m : MissingFor(*view, actions)) {
      named.emplace_back(view->names[static_cast<size_t>(m.item)], m.count);
    }
    return named;
  };
  const std::string planks = "craft 4 oak planks using 1 oak log",
                    door = "craft 3 oak door using 6 oak planks";
  EXPECT_THAT(missing({planks}), IsEmpty());
  EXPECT_THAT(missing({planks, planks, door}), ElementsAre(Pair("oak log", 1)));
  EXPECT_THAT(missing({planks, door}), ElementsAre(Pair("oak planks", 2)));
  EXPECT_THAT(missing({planks, planks, planks}), ElementsAre(Pair("oak log", 2)));
  EXPECT_THAT(missing({"get 1 oak log", planks, planks, door}), IsEmpty());
  EXPECT_THAT(missing({"inventory"}), IsEmpty());
}

}  // namespace
}  // namespace agentr
