#include "tasks/textcraft/textcraft_teacher.h"

#include <gmock/gmock.h>

#include <vector>

#include "common/random.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/textcraft/textcraft_mistakes.h"
#include "tests/tasks/small_textcraft.h"

namespace agentr {
namespace {

// What is taught after `turns` (action, observation) in the game that `commands` tell.
std::string Taught(const std::string& commands, const std::string& goal,
                   const std::vector<std::pair<std::string, std::string>>& turns = {}) {
  std::vector<Message> messages = {
      {"user", "Crafting commands:\n" + commands + "\n\nGoal: craft " + goal + "."}};
  for (const auto& [action, observation] : turns) {
    messages.push_back({"assistant", "Thought: so.\nAction: " + action});
    messages.push_back({"user", observation});
  }
  const auto view = ReadTextCraft(messages);
  const auto step = TeachTextCraft(view.value());
  return step ? step->thought + " > " + ActionText(*view, step->action) : "nothing";
}

constexpr char kDoor[] = "craft 4 oak planks using 1 oak log\ncraft 3 oak door using 6 oak planks";

TEST(TextCraftTeacherTest, SaysTheChainFromTheGoalDown) {
  EXPECT_EQ(Taught(kDoor, "oak door"),
            "oak door using 6 oak planks makes 3: need 6 oak planks. oak planks using 1 oak log "
            "makes 4: need 2 oak log. > get 2 oak log");
}

TEST(TextCraftTeacherTest, CountsWhatIsThereAlready) {
  EXPECT_EQ(Taught(kDoor, "oak door",
                   {{"get 2 oak log", "Got 2 oak log"},
                    {"craft 4 oak planks using 1 oak log", "Crafted 4 minecraft:oak_planks"}}),
            "oak door using 6 oak planks makes 3: need 2 oak planks. oak planks using 1 oak log "
            "makes 4: have oak log. > craft 4 oak planks using 1 oak log");
}

TEST(TextCraftTeacherTest, CraftsTheGoalOnceAllIsThere) {
  EXPECT_EQ(Taught("craft 1 bow using 3 stick, 3 string", "bow",
                   {{"get 3 stick", "Got 3 stick"}, {"get 3 string", "Got 3 string"}}),
            "bow using 3 stick, 3 string makes 1: have stick, string. > "
            "craft 1 bow using 3 stick, 3 string");
}

TEST(TextCraftTeacherTest, NamesTheItemThatStandsForAKind) {
  const std::string commands =
      "craft 4 birch planks using 1 birch log\ncraft 4 stick using 2 planks";
  EXPECT_EQ(Taught(commands, "stick"),
            "stick using 2 planks makes 4: need 2 planks as birch planks. birch planks using 1 "
            "birch log makes 4: need 1 birch log. > get 1 birch log");
  EXPECT_EQ(Taught(commands, "stick", {{"get 2 birch planks", "Got 2 birch planks"}}),
            "stick using 2 planks makes 4: have planks as birch planks. > "
            "craft 4 stick using 2 birch planks");
}

TEST(TextCraftTeacherTest, TakesTheCheaperOfTwoCommands) {
  EXPECT_EQ(Taught("craft 1 dye using 1 mixture\ncraft 1 mixture using 1 a, 1 b\n"
                   "craft 1 dye using 1 flower",
                   "dye"),
            "dye using 1 flower makes 1: need 1 flower. > get 1 flower");
}

TEST(TextCraftTeacherTest, AnItemThatNeedsItselfCannotBeTaught) {
  EXPECT_EQ(Taught("craft 9 ingot using 1 block\ncraft 1 block using 9 ingot", "block"), "nothing");
}

// What explains `action` at the beginning of the game that `commands` tell.
std::string Explained(const std::string& commands, const std::string& goal,
                      const std::string& action, const std::string& got = "") {
  std::vector<Message> messages = {
      {"user", "Crafting commands:\n" + commands + "\n\nGoal: craft " + goal + "."}};
  if (!got.empty()) {
    messages.push_back({"assistant", "Action: get " + got});
    messages.push_back({"user", "Got " + got});
  }
  const auto view = ReadTextCraft(messages);
  const auto step = ExplainTextCraft(view.value(), action);
  if (!step) return "nothing";
  const std::string spelled = ActionText(*view, step->action);
  return step->thought + (spelled == action ? "" : " > " + spelled);
}

TEST(TextCraftTeacherTest, TheNumberOfACraftBecomesThatOfItsCommand) {
  EXPECT_EQ(Explained(kDoor, "oak planks", "craft 1 oak planks using 1 oak log", "1 oak log"),
            "oak planks using 1 oak log makes 4: have oak log. > "
            "craft 4 oak planks using 1 oak log");
}

TEST(TextCraftTeacherTest, ExplainsWhatIsTaughtInTheSameWords) {
  for (const auto& [goal, action] : std::vector<std::pair<std::string, std::string>>{
           {"oak door", "get 2 oak log"}, {"oak planks", "get 1 oak log"}}) {
    EXPECT_EQ(Explained(kDoor, goal, action) + " > " + action, Taught(kDoor, goal));
  }
}

constexpr char kBed[] =
    "craft 4 oak planks using 1 oak log\ncraft 1 bed using 3 wool, 3 planks\n"
    "craft 1 lamp using 1 bed, 2 oak planks";

TEST(TextCraftTeacherTest, ExplainsAnotherOrderThanItsOwn) {
  EXPECT_EQ(Taught(kBed, "bed"), "bed using 3 wool, 3 planks makes 1: need 3 wool. > get 3 wool");
  EXPECT_EQ(Explained(kBed, "bed", "get 1 oak log"),
            "bed using 3 wool, 3 planks makes 1: need 3 planks as oak planks. oak planks using 1 "
            "oak log makes 4: need 1 oak log.");
  EXPECT_EQ(Explained(kBed, "lamp", "craft 4 oak planks using 1 oak log", "1 oak log"),
            "lamp using 1 bed, 2 oak planks makes 1: need 1 bed. bed using 3 wool, 3 planks makes "
            "1: need 3 planks as oak planks. oak planks using 1 oak log makes 4: have oak log.");
}

TEST(TextCraftTeacherTest, DoesNotExplainWhatTheGoalDoesNotNeed) {
  EXPECT_EQ(Explained(kBed, "bed", "get 2 wool"), "nothing");   // another number
  EXPECT_EQ(Explained(kBed, "bed", "get 1 apple"), "nothing");  // in no command
  EXPECT_EQ(Explained(kDoor, "oak door", "inventory"), "nothing");
  EXPECT_EQ(Explained(kBed, "bed", "get 3 wool", "3 wool"), "nothing");  // is there already
  EXPECT_EQ(Explained(kBed, "bed", "craft 4 oak planks using 2 oak log", "2 oak log"), "nothing");
  EXPECT_EQ(Explained(kBed, "bed", "craft 4 oak planks using 1 oak log"), "nothing");  // too early
  EXPECT_EQ(Explained(kBed, "oak planks", "get 3 wool"), "nothing");
}

bool Fits(const std::string& thought, const std::string& action) {
  const std::vector<Message> messages = {
      {"user", std::string("Crafting commands:\n") + kDoor + "\n\nGoal: craft oak door."}};
  return FitsTextCraft(ReadTextCraft(messages).value(), thought, action);
}

TEST(TextCraftTeacherTest, AThoughtFitsTheActionThatItLeadsTo) {
  const std::string door = "oak door using 6 oak planks makes 3: ";
  const std::string get =
      door + "need 6 oak planks. oak planks using 1 oak log makes 4: need 2 oak log.";
  EXPECT_TRUE(Fits(get, "get 2 oak log"));
  EXPECT_TRUE(Fits("That did not work. " + get, "get 2 oak log"));
  EXPECT_FALSE(Fits(get, "get 3 oak log"));
  EXPECT_FALSE(Fits(get, "get 2 oak planks"));
  EXPECT_FALSE(Fits(get, "craft 4 oak planks using 1 oak log"));
  EXPECT_TRUE(Fits(door + "have oak planks.", "craft 3 oak door using 6 oak planks"));
  EXPECT_FALSE(Fits(door + "have oak planks.", "craft 4 oak planks using 1 oak log"));
  EXPECT_FALSE(Fits(door + "have oak planks.", "get 2 oak log"));
}

TEST(TextCraftTeacherTest, AThoughtThatInventsACommandFitsNothing) {
  EXPECT_FALSE(Fits("oak log using 4 oak log makes 4: need 2 oak log.", "get 2 oak log"));
  EXPECT_FALSE(Fits("dark oak planks using 1 oak log makes 4: need 2 oak log.", "get 2 oak log"));
  EXPECT_FALSE(Fits("oak planks using 1 oak log makes 42: need 2 oak log.", "get 2 oak log"));
}

TEST(TextCraftTeacherTest, AThoughtThatRecitesNothingFits) {
  EXPECT_TRUE(Fits("I need some logs first.", "get 2 oak log"));
  EXPECT_TRUE(Fits("I can make planks using 1 log; that makes sense.", "get 2 oak log"));
  EXPECT_TRUE(Fits("", "get 2 oak log"));
}

// From wherever mistakes have led, the steps lead to the goal.
TEST(TextCraftTeacherTest, LeadsToTheGoalInSpiteOfMistakes) {
  for (const std::string& goal : SmallTextCraft::Goals()) {
    if (goal == "painting") continue;  // "white wool" only looks like a kind of "wool"
    for (uint64_t seed = 0; seed < 10; ++seed) {
      SmallTextCraft game(goal);
      RandomStream random(seed);
      std::vector<Message> messages = TextCraftFamily().Instruction();
      messages.push_back({"user", game.FirstObservation()});
      double reward = 0;
      for (int turn = 0; turn < 60 && reward == 0; ++turn) {
        const auto view = ReadTextCraft(messages);
        const auto step = TeachTextCraft(view.value());
        ASSERT_TRUE(step) << goal;
        const std::string action = random.Chance(0.2)
                                       ? TextCraftMistake(*view, step->action, random)
                                       : ActionText(*view, step->action);
        const StepResult result = game.Step(action);
        reward = result.reward;
        messages.push_back({"assistant", "Thought: so.\nAction: " + action});
        messages.push_back({"user", result.observation});
      }
      EXPECT_EQ(reward, 1) << goal << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace agentr
