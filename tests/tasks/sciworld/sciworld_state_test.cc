#include "tasks/sciworld/sciworld_state.h"

#include <gtest/gtest.h>

#include <vector>

namespace agentr {
namespace {

using Turns = std::vector<std::pair<std::string, std::string>>;

std::string KeyOf(const Turns& turns) {
  std::vector<Message> history = {
      {"user",
       "Task description: x This room is called the kitchen. In it, you see: a fridge (containing "
       "nothing) You also see: A door to the hallway (that is closed)"}};
  for (const auto& [action, reply] : turns) {
    history.push_back({"assistant", "Thought: t\nAction: " + action});
    history.push_back({"user", reply});
  }
  return SciWorldStateKey(history);
}

TEST(SciWorldStateKey, AWayBackLeadsToTheSameState) {
  const Turns opened = {{"open door to hallway", "The door is now open."}};
  Turns back = opened;
  back.emplace_back("go to hallway", "You move to the hallway.");
  EXPECT_NE(KeyOf(back), KeyOf(opened));
  back.emplace_back("go to kitchen", "You move to the kitchen.");
  EXPECT_EQ(KeyOf(back), KeyOf(opened));
  EXPECT_NE(KeyOf(opened), KeyOf({}));
}

TEST(SciWorldStateKey, WhatIsTakenBackAndWhatIsRefusedLeavesNoTrace) {
  const Turns open = {{"open fridge", "The fridge is now open."}};
  EXPECT_EQ(KeyOf({open[0],
                   {"close fridge", "The fridge is now closed."},
                   {"fly away", "No known action matches that input."},
                   {"open fridge", "The fridge is now open."},
                   {"open fridge", "The fridge is already open."},
                   {"look around", "This room is called the kitchen."}}),
            KeyOf(open));
  EXPECT_EQ(KeyOf({{"pick up jug", "You move the jug to the inventory."}}),
            KeyOf({{"move jug to inventory", "You move the jug to the inventory."}}));
}

TEST(SciWorldStateKey, WhatHasNoOppositeCountsInItsOrder) {
  const std::pair<std::string, std::string> wait = {"wait", "You decide to wait."};
  const std::pair<std::string, std::string> focus = {"focus on jug", "You focus on the jug."};
  EXPECT_NE(KeyOf({wait}), KeyOf({}));
  EXPECT_NE(KeyOf({wait, wait}), KeyOf({wait}));
  EXPECT_NE(KeyOf({wait, focus}), KeyOf({focus, wait}));
}

TEST(SciWorldStateKey, AQuestionThatWaitsIsPartOfTheState) {
  const std::string question = "Ambiguous request: Please enter the number: 0: open red door 1: x";
  const Turns asked = {{"open door", question}};
  EXPECT_NE(KeyOf(asked), KeyOf({}));
  EXPECT_NE(KeyOf({asked[0], {"0", "The door is now open."}}),
            KeyOf({asked[0], {"1", "The door is now open."}}));
  EXPECT_EQ(SciWorldStateKey(std::vector<Message>{{"user", "Hello."}}), "");
}

}  // namespace
}  // namespace agentr
