#include "tasks/sciworld/sciworld_snap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentr {
namespace {

using ::testing::Contains;
using ::testing::Not;
using Actions = std::vector<std::string>;

const std::string kLook =
    "This room is called the kitchen. In it, you see:\n\ta Red Apple\n\ta stove";
const std::string kInventory = "In your inventory, you see:\n\tan orange\n";
const Actions kValid = {"focus on agent",     "focus on air",       "focus on kitchen",
                        "focus on red apple", "focus on orange",    "focus on banana",
                        "close kitchen door", "open kitchen door",  "pick up red apple",
                        "pick up orange",     "pick up apple seed", "go to hallway",
                        "activate stove",     "look around"};

std::string Snap(const std::string& said, const Actions& last_three = {}) {
  return SnapAction(said, kValid, kLook, kInventory, last_three);
}

TEST(SnapCandidates, AreWhatAnAgentMayTake) {
  const Actions candidates = SnapCandidates(kValid, kLook, kInventory, Actions{"Go to hallway"});
  for (const char* action : {"focus on agent", "focus on air", "focus on kitchen",
                             "focus on banana", "close kitchen door", "go to hallway"}) {
    EXPECT_THAT(candidates, Not(Contains(action)));
  }
  for (const char* action :
       {"focus on red apple", "focus on orange", "open kitchen door", "pick up apple seed",
        "open door to green house", "open door to greenhouse", "open door to living room"}) {
    EXPECT_THAT(candidates, Contains(action));
  }
  EXPECT_EQ(candidates.size(), kValid.size() - 6 + 11);
}

TEST(SnapAction, KeepsWhatIsValid) {
  EXPECT_EQ(Snap("pick up orange"), "pick up orange");
  EXPECT_EQ(Snap("Pick Up Orange"), "Pick Up Orange");
  EXPECT_EQ(Snap("open door to foundry"), "open door to foundry");
}

TEST(SnapAction, TakesTheOneWithMostWordsInCommon) {
  EXPECT_EQ(Snap("please pick up the red apple"), "pick up red apple");
  EXPECT_EQ(Snap("turn on the stove"), "activate stove") << "before \"focus on orange\"";
  EXPECT_EQ(Snap("open the door to the art studio"), "open door to art studio");
}

TEST(SnapAction, OfEqualsTheShortest) {
  EXPECT_EQ(Snap("pick up"), "pick up orange");
  EXPECT_EQ(Snap("xyz"), "look around") << "which has no fewer words in common than any";
}

TEST(SnapAction, NeverOneOfTheLastThree) {
  EXPECT_EQ(Snap("pick up orange", {"pick up orange"}), "pick up red apple");
  EXPECT_EQ(Snap("pick up orange", {"wait", "pick up red apple", "Pick up orange"}),
            "pick up apple seed");
}

TEST(SnapAction, NeverFocusesOnWhatIsNotThere) {
  EXPECT_EQ(Snap("focus on banana"), "focus on orange");
  EXPECT_EQ(Snap("focus on kitchen"), "focus on orange");
}

TEST(SnapAction, LeavesNumbersAndWhatHasNoCandidates) {
  EXPECT_EQ(Snap("0"), "0");
  Actions all_doors;
  for (const std::string& action : SnapCandidates(Actions{}, "", "", Actions{})) {
    all_doors.push_back(action);
  }
  EXPECT_EQ(SnapAction("fly", Actions{}, "", "", all_doors), "fly");
}

}  // namespace
}  // namespace agentr
