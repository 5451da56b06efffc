// Detective: its rules, its houses, and the explorer that reads the observations.
#include "games/detective/detective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "games/detective/detective_texts.h"
#include "tasks/detective/detective_family.h"
#include "tasks/detective/detective_gold.h"
#include "tasks/detective/detective_map.h"

namespace agentr {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// A house of four rooms: the gate, the hall to its north with a clue and the key, a danger to the
// west of the hall, and the cellar to its east, where the cook hides.
DetectiveState SmallHouse() {
  DetectiveCase house;
  house.things = {kDetectiveKey, "wax seal"};
  house.culprit = "cook";
  house.hiding_place = 2;
  house.rooms = {{{"Gate", "Gravel."}, {1, kNoDoor, kNoDoor, kNoDoor}, {}},
                 {{"Hall", "A clock ticks."}, {kNoDoor, 2, 0, kDanger}, {1, 0}},
                 {{"Cellar", "Barrels."}, {kNoDoor, kNoDoor, kNoDoor, 1}, {}}};
  DetectiveState state;
  state.house = std::make_shared<const DetectiveCase>(std::move(house));
  return state;
}

TEST(Detective, ObservationsAreTheViewTheHandsTheAnswerAndTheActions) {
  const Detective game;
  DetectiveState state = SmallHouse();
  game.Step(state, "North ");
  EXPECT_EQ(state.observation,
            "You are at: Hall. A clock ticks. You see a wax seal. You see a key. Open doors: south."
            " The door to the east is locked. Behind the door to the west someone cocks a gun.\n"
            "You carry nothing.\nYou go north.\n"
            "['take wax seal', 'take key', 'south', 'west']");
  game.Step(state, "take wax seal");
  EXPECT_EQ(state.score, 10);
  EXPECT_THAT(state.observation, HasSubstr("You carry: wax seal.\nTaken.\n"));
  EXPECT_THAT(state.observation, Not(HasSubstr("You see a wax seal")));
}

TEST(Detective, TheCaseIsSolvedByAllCluesTheKeyAndTheArrest) {
  const Detective game;
  DetectiveState state = SmallHouse();
  for (const char* action : {"north", "east", "take key", "east"}) game.Step(state, action);
  EXPECT_EQ(state.room, 2) << "locked at first";
  EXPECT_THAT(ValidActions(state), ElementsAre("west")) << "a clue is missing";
  game.Step(state, "arrest cook");
  EXPECT_FALSE(state.done());
  for (const char* action : {"west", "take wax seal", "east"}) game.Step(state, action);
  EXPECT_THAT(ValidActions(state), ElementsAre("arrest cook", "west"));
  game.Step(state, "arrest cook");
  EXPECT_TRUE(state.won);
  EXPECT_EQ(state.score, 110);
  EXPECT_EQ(state.reward, 1);
  EXPECT_EQ(state.steps, 7) << "refused actions cost nothing";
  EXPECT_THAT(state.observation, EndsWith("The cook confesses. The case is solved.\n[]"));
}

TEST(Detective, AShotEndsTheCaseWithThePointsSoFar) {
  const Detective game;
  DetectiveState state = SmallHouse();
  for (const char* action : {"north", "take wax seal", "west"}) game.Step(state, action);
  EXPECT_TRUE(state.done());
  EXPECT_FALSE(state.won);
  EXPECT_EQ(state.score, 10);
  EXPECT_EQ(state.reward, 10.0 / 110);
}

TEST(Detective, FiftyActionsEndIt) {
  const Detective game;
  DetectiveState state = SmallHouse();
  for (int i = 0; i < 49; ++i) game.Step(state, i % 2 == 0 ? "north" : "south");
  game.Step(state, "look");
  EXPECT_FALSE(state.done());
  game.Step(state, "south");
  EXPECT_TRUE(state.done());
}

TEST(Detective, RefusalsAndLooksAreRecognised) {
  const Detective game;
  const DetectiveFamily family;
  DetectiveState state = SmallHouse();
  game.Step(state, "north");
  const std::string before = state.observation;
  game.Step(state, "dance");
  EXPECT_TRUE(family.IsRefusal(before, "dance", state.observation));
  EXPECT_TRUE(family.LeavesStateUnchanged(before, "dance", state.observation));
  game.Step(state, "inventory");
  EXPECT_FALSE(family.IsRefusal(before, "inventory", state.observation));
  EXPECT_TRUE(family.LeavesStateUnchanged(before, "inventory", state.observation));
  game.Step(state, "south");
  EXPECT_FALSE(family.LeavesStateUnchanged(before, "south", state.observation));
  const std::vector<Message> history = {{"user", before}};
  const std::vector<std::string> actions = {"south", "east", "take key"};
  EXPECT_THAT(family.LikelyUnchanged(history, actions), ElementsAre(false, true, false));
  EXPECT_THAT(family.Recoveries(history, {}), Not(Contains("west"))) << "the gun";
  EXPECT_THAT(family.Recoveries(history, {}), Contains("south"));
}

TEST(Detective, HousesDifferAndAreTheSameForTheSameTask) {
  const Detective game;
  std::set<std::string> firsts;
  std::set<size_t> sizes;
  int dangers = 0;
  for (int64_t task = 0; task < game.task_count(); ++task) {
    const DetectiveState state = *game.Start(task);
    EXPECT_EQ(state.observation, game.Start(task)->observation);
    firsts.insert(state.observation);
    sizes.insert(state.house->rooms.size());
    std::set<std::string_view> names;
    for (const CaseRoom& room : state.house->rooms) {
      names.insert(room.room.name);
      dangers += static_cast<int>(std::ranges::count(room.doors, kDanger));
      // Every door leads back.
      for (int i = 0; i < 4; ++i) {
        if (room.doors[i] < 0) continue;
        const CaseRoom& next = state.house->rooms[room.doors[i]];
        EXPECT_EQ(&state.house->rooms[next.doors[Opposite(i)]], &room);
      }
    }
    EXPECT_EQ(names.size(), state.house->rooms.size());
    const auto& hiding = state.house->rooms[state.house->hiding_place];
    EXPECT_EQ(std::ranges::count_if(hiding.doors, [](int door) { return door >= 0; }), 1);
  }
  EXPECT_GT(firsts.size(), 5U);
  EXPECT_THAT(sizes, ElementsAre(8, 9, 10, 11, 12));
  EXPECT_GT(dangers, 500);
  EXPECT_FALSE(game.Start(1000));
  EXPECT_FALSE(game.Start(-1));
}

TEST(DetectiveMap, TheExplorerSolvesEveryCase) {
  const Detective game;
  size_t longest = 0;
  for (int64_t task = 0; task < game.task_count(); ++task) {
    const std::vector<std::string> actions = Gold(game, task);
    DetectiveState state = *game.Start(task);
    for (const std::string& action : actions) game.Step(state, action);
    ASSERT_TRUE(state.won) << task;
    longest = std::max(longest, actions.size());
  }
  EXPECT_GT(longest, 20U);
  EXPECT_LE(longest, 50U);
}

TEST(DetectiveMap, ViewsAreRead) {
  DetectiveState state = SmallHouse();
  Detective().Step(state, "north");
  const DetectiveView view = *ReadDetectiveView(state.observation);
  EXPECT_EQ(view.room, "Hall");
  EXPECT_EQ(view.answer, "You go north.");
  EXPECT_THAT(view.actions, ElementsAre("take wax seal", "take key", "south", "west"));
  EXPECT_THAT(view.dangerous, ElementsAre("west"));
  EXPECT_THAT(view.locked, ElementsAre("east"));
  EXPECT_FALSE(view.has_key);
  EXPECT_FALSE(view.culprit_is_here);
  EXPECT_FALSE(ReadDetectiveView("Hall"));
  EXPECT_FALSE(ReadDetectiveView("You are at: Hall. A clock.\nYou carry nothing.\nTaken."));
  EXPECT_FALSE(ReadDetectiveView("You are at: Hall. A clock.\nTaken.\n['north']"));
  EXPECT_THAT(Detective().Start(3)->observation, StartsWith("You are at: Gate. "));
  // As conversations show it.
  std::string line = state.observation;
  std::ranges::replace(line, '\n', ' ');
  EXPECT_EQ(ReadDetectiveView(line)->answer, "You go north.");
  EXPECT_THAT(ReadDetectiveView(line)->actions,
              ElementsAre("take wax seal", "take key", "south", "west"));
  Detective().Step(state, "west");
  EXPECT_THAT(ReadDetectiveView(state.observation)->actions, IsEmpty()) << "the case is over";
}

}  // namespace
}  // namespace agentr
