#include "tasks/sciworld/sciworld_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"
#include "tasks/scripted_model.h"
#include "tests/tasks/small_sciworld.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kRefused = "No known action matches that input.";
const std::string kAmbiguous =
    "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n"
    "0:\tpick up apple";

TEST(SciWorldFamily, TheRevisionActionTakesNoTime) {
  const SciWorldFamily family;
  const std::string action(family.RevisionAction());
  EXPECT_TRUE(family.LeavesStateUnchanged("This room is called the kitchen.", action,
                                          "Task Description:\nBoil water."));
  EXPECT_FALSE(family.LeavesStateUnchanged("This room is called the kitchen.", "wait",
                                           "You decide to wait for 10 iterations."));
}

TEST(SciWorldFamily, ParsesActions) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Thought: go.\nAction: go to kitchen", "go to kitchen"},
      {"Thought: go.\nAction:\n  Go To Kitchen \n", "Go To Kitchen"},
      {"Action: open door to hallway\nObservation: it is open", "open door to hallway"},
      {"Action: 1. look around\t\nand so on", "look around"},
      {"Action: 0", "0"},
      {"wait1", "wait1"},
      {"Action:", ""},
      {"", ""},
  };
  for (const auto& [response, action] : cases) {
    EXPECT_EQ(SciWorldFamily().ParseAction(response), action) << response;
  }
}

TEST(SciWorldFamily, WhatIsNotUnderstoodOrOnlyTellsIsUnchanged) {
  const SciWorldFamily family;
  EXPECT_TRUE(family.LeavesStateUnchanged("x", "fly to the moon", kRefused));
  EXPECT_TRUE(family.LeavesStateUnchanged("x", "fly to the moon", kRefused + "\n"));
  for (const char* action : {"inventory", "look around", "task", " Look Around "}) {
    EXPECT_TRUE(family.LeavesStateUnchanged("x", action, "This room …")) << action;
    EXPECT_FALSE(family.LeavesStateUnchanged(kAmbiguous, action, "This room …"))
        << "it has given the ambiguous request up";
  }
  for (const char* action : {"wait1", "look at table", "look", "look  around", "reset task",
                             "open door to kitchen", "task 1", "examine table", ""}) {
    EXPECT_FALSE(family.LeavesStateUnchanged("x", action, "x")) << action;
  }
  EXPECT_FALSE(family.LeavesStateUnchanged("x", "pick up apple", kAmbiguous));
  EXPECT_FALSE(family.LeavesStateUnchanged("x", "task", kAmbiguous));
  EXPECT_FALSE(family.LeavesStateUnchanged(kAmbiguous, "7", kRefused));
  EXPECT_FALSE(family.LeavesStateUnchanged("x", "read note", "It says: " + kRefused));
}

TEST(SciWorldFamily, WhatCannotBeDoneIsRefusedThoughTimeGoesBy) {
  const SciWorldFamily family;
  for (const char* reply :
       {"The door is already open.", "The oven is not moveable.",
        "The thermometer is not closeable.",
        "The large cupboard isn't open, so you can't see inside.",
        "You can't move something into itself.", "It's not clear how to get there from here.",
        "I'm not sure how to use the wood cup.", "Something can't be connected to itself.",
        "That can't be moved there, because the freezer isn't open.",
        "That object does not appear to be in the inventory.", "That is already flushing.",
        "The cup can't be poured out, because it's not open.",
        "Unknown action.  Type 'help' for a list."}) {
    EXPECT_TRUE(family.IsRefusal("", "open door", reply)) << reply;
    EXPECT_FALSE(family.LeavesStateUnchanged("", "open door", reply)) << reply;
    EXPECT_EQ(family.MistakeName({}, "open door", reply), "not_possible") << reply;
  }
  for (const char* reply :
       {"The door is now open.", "You move to the kitchen.", "The stove is now activated.",
        "The recipe reads: To make salt water, mix what is not sweet. Then wait.",
        "This room is called the hallway."}) {
    EXPECT_FALSE(family.IsRefusal("", "open door", reply)) << reply;
  }
}

TEST(SciWorldFamily, SetsTheDegreesOfAThermometerApart) {
  const SciWorldFamily family;
  const auto cold =
      family.WithoutReadings("the thermometer measures a temperature of -9 degrees celsius");
  EXPECT_THAT(cold.values, ElementsAre("-9"));
  EXPECT_EQ(cold.text, "the thermometer measures a temperature of # degrees celsius");
  EXPECT_THAT(family.WithoutReadings("You move to the kitchen.").values, IsEmpty());
  EXPECT_EQ(family.WithoutReadings("You move to the kitchen.").text, "You move to the kitchen.");
}

TEST(SciWorldFamily, RefusesWhatItDoesNotUnderstand) {
  const SciWorldFamily family;
  EXPECT_TRUE(family.IsRefusal("x", "fly to the moon", kRefused));
  EXPECT_TRUE(family.IsRefusal(kAmbiguous, "7", kRefused + "\n"));
  for (const std::string& reply : {kAmbiguous, "It says: " + kRefused, std::string("This room …"),
                                   std::string("The door is locked.")}) {
    EXPECT_FALSE(family.IsRefusal(kRefused, "look around", reply)) << reply;
  }
}

TEST(SciWorldFamily, GuessesWhichActionsChangeNothing) {
  const std::vector<std::string> actions = {"look around", "go to kitchen", "fly away",
                                            "0",           "Inventory",     "look at task"};
  const std::vector<Message> history = {{"user", "Task description:\nx"}};
  EXPECT_THAT(SciWorldFamily().LikelyUnchanged(history, actions),
              ElementsAre(true, false, true, true, true, false));
  const std::vector<Message> asked = {{"user", kAmbiguous}};
  EXPECT_THAT(SciWorldFamily().LikelyUnchanged(asked, actions),
              ElementsAre(false, false, false, false, false, false));
}

TEST(SciWorldFamily, WhatItCallsUnchangedIsUnchangedInTheHouse) {
  const SciWorldFamily family;
  const auto model = MakeScriptedModel("random", family, {});
  int unchanged = 0;
  int changed = 0;
  for (uint64_t episode = 0; episode < 200; ++episode) {
    RandomStream random(episode);
    SmallSciWorld house(static_cast<int>(episode % SmallSciWorld::kTasks));
    std::vector<Message> conversation = {{"user", house.TaskDescription() + "\n" + house.Look()}};
    std::string before = conversation[0].content;
    for (int turn = 0; turn < 25; ++turn) {
      SamplingParams sampling;
      sampling.seed = random.Next();
      const std::string text =
          model->Complete(conversation, 1, sampling).value().completions[0].text;
      // So that every reply of the small house comes up.
      const std::string action = random.Chance(0.15) ? "pick up apple" : family.ParseAction(text);
      const SmallSciWorld old = house;
      const StepResult step = house.Step(action);
      if (step.done) break;
      if (family.LeavesStateUnchanged(before, action, step.observation)) {
        ++unchanged;
        ASSERT_EQ(old, house) << action << " -> " << step.observation;
      } else {
        if (old != house) ++changed;
        before = step.observation;
      }
      conversation.push_back({"assistant", "Action: " + action});
      conversation.push_back({"user", step.observation});
    }
  }
  EXPECT_GT(unchanged, 100);
  EXPECT_GT(changed, 100);
}

}  // namespace
}  // namespace agentr
