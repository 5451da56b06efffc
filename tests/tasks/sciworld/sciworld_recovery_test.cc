#include "tasks/sciworld/sciworld_recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tasks/sciworld/sciworld_family.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SciWorldRecovery, TakesActionsBack) {
  EXPECT_THAT(UndoSciWorld("open door to kitchen"), ElementsAre("close door to kitchen"));
  EXPECT_THAT(UndoSciWorld("close fridge"), ElementsAre("open fridge"));
  EXPECT_THAT(UndoSciWorld("activate stove"), ElementsAre("deactivate stove"));
  EXPECT_THAT(UndoSciWorld("pick up metal pot"), ElementsAre("drop metal pot"));
  EXPECT_THAT(UndoSciWorld("put down metal pot"), ElementsAre("pick up metal pot"));
  EXPECT_THAT(UndoSciWorld("move metal pot to sink"),
              ElementsAre("pick up metal pot", "move metal pot to inventory"));
  EXPECT_THAT(UndoSciWorld("move metal pot to inventory"), ElementsAre("drop metal pot"));
  EXPECT_THAT(UndoSciWorld("connect red wire terminal 1 to battery anode"),
              ElementsAre("disconnect red wire terminal 1", "disconnect battery anode"));
  for (const char* const action : {"focus on water", "wait", "wait1", "eat apple", "open", "0"}) {
    EXPECT_THAT(UndoSciWorld(action), IsEmpty()) << action;
  }
}

TEST(SciWorldRecovery, PreparesActions) {
  EXPECT_THAT(PrepareSciWorld("go to kitchen"), ElementsAre("open door to kitchen"));
  EXPECT_THAT(PrepareSciWorld("move metal pot to freezer"),
              ElementsAre("pick up metal pot", "open freezer"));
  EXPECT_THAT(PrepareSciWorld("pour jug into cup"), ElementsAre("pick up jug", "open cup"));
  EXPECT_THAT(PrepareSciWorld("use thermometer on water"), ElementsAre("pick up thermometer"));
  EXPECT_THAT(PrepareSciWorld("look around"), IsEmpty());
}

TEST(SciWorldRecovery, TheFamilyOffersThemByPromise) {
  const std::string room =
      "This room is called the kitchen. In it, you see: a fridge (containing nothing) You also "
      "see: A door to the hallway (that is closed)";
  const std::vector<Message> history = {{"user", "Task description: x " + room},
                                        {"assistant", "Action: move jug to sink"},
                                        {"user", "You move the jug to the sink."}};
  const std::vector<std::string> wanted = {"move jug to fridge"};
  EXPECT_THAT(SciWorldFamily().Recoveries(history, wanted),
              ElementsAre("pick up jug", "move jug to inventory", "go to hallway",
                          "open door to hallway", "pick up jug", "open fridge"));
}

}  // namespace
}  // namespace agentr
