#include "tasks/babyai/babyai_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "common/random.h"
#include "tasks/babyai/babyai_policy.h"
#include "tasks/scripted_model.h"
#include "tests/clients/expect_error.h"
#include "tests/tasks/small_babyai.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kView =
    "In front of you in this room, you can see several objects: There is a red ball 1 right in "
    "front of you 2 steps away. You are not carrying anything.";
const std::string kOffer = "\nAvailable actions: [\"turn left\", \"go to red ball 1\"]";

TEST(BabyAiFamily, ParsesActions) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Thought: go.\nAction: go to red ball 1", "go to red ball 1"},
      {"Thought: go.\nAction:\nGo To  Red Ball 1.\n", "go to red ball 1"},
      {"Action: [turn left]", "turn left"},
      {"Action: `toggle and go through blue closed door 1`\nObservation: it opens",
       "toggle and go through blue closed door 1"},
      {"Action: 1. pick up grey box 2", "pickup grey box 2"},
      {"Action: pickup grey box 2", "pickup grey box 2"},
      {"check available actions", "check available actions"},
      {"Action: …", ""},
      {"Action:", ""},
      {"", ""},
  };
  for (const auto& [response, action] : cases) {
    EXPECT_EQ(BabyAiFamily().ParseAction(response), action) << response;
  }
}

TEST(BabyAiFamily, ReadsWhatIsOffered) {
  EXPECT_THAT(BabyAiActions(kView + kOffer), ElementsAre("turn left", "go to red ball 1"));
  EXPECT_THAT(BabyAiActions("x Available actions: [\"turn left\"]"), ElementsAre("turn left"))
      << "line breaks become blanks in a stored tree";
  EXPECT_THAT(BabyAiActions(kView), IsEmpty());
  EXPECT_THAT(BabyAiActions("x\nAvailable actions: []"), IsEmpty());
  EXPECT_THAT(BabyAiActions("x\nAvailable actions: [\"turn"), IsEmpty());
}

TEST(BabyAiFamily, KnowsRefusals) {
  const BabyAiFamily family;
  const auto refused = [&](const std::string& reply) {
    return family.IsRefusal(kView + kOffer, "go to red ball 1", reply + kOffer);
  };
  EXPECT_TRUE(refused("The action is not recognized. Please check valid actions."));
  EXPECT_TRUE(refused("No change in state."));
  EXPECT_TRUE(refused("There is a barrier in front of you, you can't move forward."));
  EXPECT_TRUE(refused("You cannot go to red ball 1, as there is no path leading to it."));
  EXPECT_TRUE(refused("You cannot drop the object, as you are not carrying anything."));
  EXPECT_FALSE(refused(kView));
  EXPECT_FALSE(refused("You cannot see any objects within sight."));
  EXPECT_FALSE(refused("You can take the following actions: turn left"));
  EXPECT_FALSE(refused(kView + "\n The task is completed."));
}

TEST(BabyAiFamily, AMoveThatShowsTheSameIsRefused) {
  const BabyAiFamily family;
  const std::string offer = "\nAvailable actions: [\"turn left\", \"go forward\", \"toggle\"]";
  const std::string wall = "You see a wall 1 step forward" + offer;
  EXPECT_TRUE(family.IsRefusal(wall, "go forward", wall));
  EXPECT_TRUE(family.IsRefusal("Your goal: go to the red ball\n" + wall, "toggle",
                               "You see a wall 1 step forward Available actions: [\"go forward\"]"))
      << "the goal and the line breaks do not count";
  EXPECT_FALSE(family.IsRefusal(wall, "turn left", wall)) << "there are walls on all sides";
  EXPECT_FALSE(family.IsRefusal("You see a wall 2 steps forward" + offer, "go forward", wall));
  EXPECT_FALSE(family.IsRefusal("You carry a key, " + wall, "drop", wall));
  EXPECT_FALSE(
      family.IsRefusal("You see nothing" + offer, "go forward", "You see nothing" + offer));
  EXPECT_FALSE(family.LeavesStateUnchanged(wall, "go forward", wall)) << "it has cost a move";
}

TEST(BabyAiFamily, RefusalsAndQuestionsAreUnchanged) {
  const BabyAiFamily family;
  const std::string before = kView + kOffer;
  const std::string no = "The action is not recognized. Please check valid actions.";
  const std::string list = "You can take the following actions: turn left, go to red ball 1";
  EXPECT_TRUE(family.LeavesStateUnchanged(before, "fly", no + kOffer));
  EXPECT_TRUE(family.LeavesStateUnchanged(before, "check available actions", list + kOffer));
  EXPECT_FALSE(family.LeavesStateUnchanged(before, "turn left", list + kOffer));
  EXPECT_FALSE(family.LeavesStateUnchanged(before, "turn left", before))
      << "what looks the same has cost a move";
  EXPECT_FALSE(family.LeavesStateUnchanged(before, "fly", no + "\nAvailable actions: [\"drop\"]"))
      << "other actions are offered";
}

TEST(BabyAiFamily, GuessesThatWhatIsNotOfferedChangesNothing) {
  const std::vector<Message> history = {{"user", kView + kOffer}};
  const std::vector<std::string> actions = {"turn left", "fly", "go to red ball 2",
                                            "check available actions", ""};
  EXPECT_THAT(BabyAiFamily().LikelyUnchanged(history, actions),
              ElementsAre(false, true, true, true, true));
  const std::vector<Message> without = {{"user", kView}};
  EXPECT_THAT(BabyAiFamily().LikelyUnchanged(without, actions),
              ElementsAre(false, false, false, false, false));
  EXPECT_THAT(BabyAiFamily().LikelyUnchanged({}, actions),
              ElementsAre(false, false, false, false, false));
}

// Conversations with the embedded server's texts.
std::vector<Message> PlayedMoves(std::initializer_list<const char*> actions) {
  const std::string offered = "\nAvailable actions: [\"turn left\", \"go forward\"]";
  std::vector<Message> history = {
      {"user", "Your goal: go to the red ball\nYou see a wall 3 steps forward" + offered}};
  for (const char* action : actions) {
    history.push_back({"assistant", std::string("Action: ") + action});
    history.push_back({"user", "You see a wall 3 steps forward" + offered});
  }
  return history;
}

TEST(BabyAiFamily, StateKeysAreEqualWhereTheAgentStandsAndSeesTheSame) {
  const BabyAiFamily family;
  const auto key = [&](std::initializer_list<const char*> actions) {
    return family.StateKey(PlayedMoves(actions));
  };
  EXPECT_EQ(key({}), key({"turn left", "turn right"}));
  EXPECT_EQ(key({"turn left"}), key({"turn right", "turn right", "turn right"}));
  EXPECT_NE(key({}), key({"turn left"}));
  EXPECT_NE(key({}), key({"go forward"}));
  EXPECT_EQ(family.StateKey(std::vector<Message>{{"user", kView + kOffer}}), "")
      << "AgentGym's own server";
}

TEST(BabyAiFamily, TheWayBackComesFirst) {
  const BabyAiFamily family;
  EXPECT_EQ(family.Recoveries(PlayedMoves({"turn left"}), {}).front(), "turn right");
  EXPECT_EQ(family.Recoveries(PlayedMoves({"turn left", "pick up"}), {}).front(), "drop");
  EXPECT_THAT(family.Recoveries(PlayedMoves({"drop"}), {}),
              ElementsAre("pick up", "turn left", "turn right", "go forward", "drop"));
  EXPECT_THAT(family.Recoveries(std::vector<Message>{{"user", kView + kOffer}}, {}), IsEmpty());
}

// What the planner thinks behind these observations when it does `action`.
std::string ThoughtBehind(const std::vector<std::pair<std::string, std::string>>& turns,
                          std::string_view last, std::string_view action) {
  const std::string offered =
      "\nAvailable actions: [\"turn left\", \"turn right\", \"go forward\", \"pick up\", "
      "\"drop\", \"toggle\"]";
  std::vector<Message> history;
  for (const auto& [shown, done] : turns) {
    history.push_back({"user", shown + offered});
    history.push_back({"assistant", "Action: " + done});
  }
  history.push_back({"user", std::string(last) + offered});
  RandomStream random(1);
  return ReadBabyAiPolicy(history)->Thought(action, random);
}

TEST(BabyAiPolicy, SaysWhereTheThingIs) {
  const std::string goal = "Your goal: pick up the red key\n";
  const std::string seen = "You see a red key 1 step left and 2 steps forward";
  EXPECT_THAT(ThoughtBehind({}, goal + "You see a wall 3 steps forward", "turn left"),
              HasSubstr("I see no red key. "));
  EXPECT_THAT(ThoughtBehind({}, goal + seen, "go forward"),
              HasSubstr("The red key is 1 step left and 2 steps forward. "));
  EXPECT_THAT(ThoughtBehind({}, goal + "You see a red key 1 step forward", "pick up"),
              HasSubstr("The red key is right in front of me. "));
  EXPECT_THAT(
      ThoughtBehind({{goal + seen, "turn right"}}, "You see a grey box 1 step forward",
                    "turn left"),
      AllOf(HasSubstr("The red key is 2 steps left and 1 step behind me. "), HasSubstr("left")))
      << "it remembers what it saw";
}

TEST(BabyAiPolicy, SaysWhatIsInTheWay) {
  const std::string goal = "Your goal: go to the red key\n";
  EXPECT_THAT(ThoughtBehind({}, goal + "You see a grey box 1 step forward", "turn left"),
              HasSubstr("I see no red key. A grey box is in my way. "));
  EXPECT_THAT(ThoughtBehind({}, goal + "You see a wall 1 step forward", "turn left"),
              HasSubstr("A wall is in my way. "));
  EXPECT_THAT(ThoughtBehind({}, goal + "You see a red key 1 step forward", "turn left"),
              Not(HasSubstr("in my way")));
  EXPECT_THAT(ThoughtBehind({}, goal + "You see a open red door 1 step forward", "go forward"),
              Not(HasSubstr("in my way")));
}

TEST(BabyAiPolicy, ALockedDoorTakesItsKey) {
  const std::string goal = "Your goal: open the blue door\n";
  const std::string door = "You see a locked blue door 4 steps forward";
  EXPECT_THAT(ThoughtBehind({}, goal + door, "turn left"), HasSubstr("I see no blue key. "));
  EXPECT_THAT(ThoughtBehind({}, goal + door + ", You see a blue key 1 step right", "turn right"),
              HasSubstr("The blue key is 1 step right. "));
}

// An action that is offered, or was, or is none.
std::string AnyAction(RandomStream& random, const std::string& shown) {
  constexpr std::array<std::string_view, 12> kOthers = {"go to red ball 1",
                                                        "go to green box 1",
                                                        "pickup blue key 1",
                                                        "toggle",
                                                        "drop",
                                                        "move forward",
                                                        "go through blue open door 1",
                                                        "toggle and go through blue locked door 1",
                                                        "go to grey key 2",
                                                        "please check",
                                                        "",
                                                        "go"};
  const std::vector<std::string_view> offered = BabyAiActions(shown);
  return random.Chance(0.6) ? std::string(random.Pick(offered)) : std::string(random.Pick(kOthers));
}

TEST(BabyAiFamily, WhatItCallsUnchangedIsUnchangedInTheWorld) {
  const BabyAiFamily family;
  int unchanged = 0, changed = 0, rewarded = 0;
  for (int task_id = 0; task_id < 200; ++task_id) {
    RandomStream random(static_cast<uint64_t>(task_id));
    SmallBabyAi world(task_id);
    std::string before = world.Start();
    for (int turn = 0; turn < 25; ++turn) {
      const std::string action = AnyAction(random, before);
      const SmallBabyAi old = world;
      const StepResult step = world.Step(action);
      EXPECT_EQ(family.IsRefusal(before, action, step.observation),
                old == world && action.find("check") == std::string::npos)
          << action << " -> " << step.observation;
      if (family.LeavesStateUnchanged(before, action, step.observation)) {
        ++unchanged;
        ASSERT_EQ(old, world) << action << " -> " << step.observation;
      } else {
        changed += old != world;
        before = step.observation;
      }
      rewarded += step.reward > 0;
      if (step.done) break;
    }
  }
  EXPECT_GT(unchanged, 500);
  EXPECT_GT(changed, 500);
  EXPECT_GT(rewarded, 50);
}

TEST(BabyAiFamily, ScriptedModelsPlayOnlyBabyAiText) {
  for (const char* name : {"planner", "random"}) {
    const auto model = MakeScriptedModel(name, BabyAiFamily(), {.error_rate = 0});
    const auto said = model->Complete(PlayedMoves({"turn left"}), 1, {});
    ASSERT_TRUE(said);
    EXPECT_THAT(said->completions.front().text, HasSubstr("Action: "));
    const std::vector<Message> other = {{"user", kView + kOffer}};
    SCOPED_TRACE("AgentGym's own server");
    ExpectError(model->Complete(other, 1, {}), ErrorKind::kRejected, "plays BabyAI-Text here");
  }
}

}  // namespace
}  // namespace agentr
