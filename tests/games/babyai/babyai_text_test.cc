// Tasks, observations and refusals of the embedded BabyAI, and the bot that plays it.
#include "games/babyai/babyai_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tasks/babyai/babyai_bot.h"
#include "tasks/babyai/babyai_family.h"
#include "tasks/babyai/babyai_gold.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const BabyAiText& MixedGame() {
  static const BabyAiText game({});
  return game;
}

TEST(BabyAiText, TrainAndTestTasksNameOtherPairs) {
  const auto names_held_out = [](const std::string& mission) {
    for (const char* pair : {"yellow box", "red key", "red door", "green ball", "grey door"}) {
      if (mission.find(pair) != std::string::npos) return true;
    }
    return false;
  };
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(names_held_out(MixedGame().Start(i)->game.mission())) << i;
    const std::string test = MixedGame().Start(BabyAiText::kTrainTasks + i)->game.mission();
    EXPECT_TRUE(names_held_out(test)) << test;
  }
  EXPECT_EQ(MixedGame().task_count(), 10200);
  EXPECT_FALSE(MixedGame().Start(10200));
  EXPECT_FALSE(MixedGame().Start(-1));
}

TEST(BabyAiText, TheKindsOfMissionsTakeTurns) {
  const auto begin = [](int i) { return MixedGame().Start(i)->game.mission(); };
  EXPECT_THAT(begin(0), StartsWith("go to "));
  EXPECT_THAT(begin(1), StartsWith("pick up "));
  EXPECT_THAT(begin(2), StartsWith("open "));
  EXPECT_THAT(begin(3), HasSubstr(" next to "));
  EXPECT_THAT(begin(4) + ", then after you", HasSubstr("pick up "));
}

TEST(BabyAiText, ObservationsHaveAgentGymsForm) {
  const std::optional<BabyAiTextState> state = MixedGame().Start(100);
  EXPECT_THAT(state->observation, StartsWith("Your goal: " + state->game.mission() + "\nYou see "));
  EXPECT_THAT(
      state->observation,
      EndsWith("\nAvailable actions: [\"turn left\", \"turn right\", \"go forward\", \"pick "
               "up\", \"drop\", \"toggle\"]"));
  EXPECT_THAT(BabyAiActions(state->observation),
              ElementsAre("turn left", "turn right", "go forward", "pick up", "drop", "toggle"));
}

TEST(BabyAiText, RefusalsAndQuestionsCostNothing) {
  const BabyAiFamily family;
  BabyAiTextState state = *MixedGame().Start(7);
  const std::string before = state.observation;
  const BabyAiEpisodes game = state.game;
  for (const char* action :
       {"wait", "", "Turn left", "go to red ball 1", "check available actions"}) {
    MixedGame().Step(state, action);
    EXPECT_EQ(state.game, game) << action;
    EXPECT_TRUE(family.LeavesStateUnchanged(before, action, state.observation)) << action;
  }
  EXPECT_TRUE(family.IsRefusal(before, family.RevisionAction(), "The action is not recognized. x"));
  MixedGame().Step(state, "turn left");
  EXPECT_FALSE(family.LeavesStateUnchanged(before, "turn left", state.observation));
  EXPECT_EQ(state.game.steps(), 1);
}

TEST(BabyAiText, OnlyTheReferenceSaysAOpenDoor) {
  const auto told = [](bool reference) {
    const BabyAiText game({"MixedTrainLocal", "open", reference});
    std::optional<BabyAiTextState> state = game.Start(0);
    for (const std::string& action : Gold(game, 0)) game.Step(*state, action);
    return state->observation;
  };
  EXPECT_THAT(told(true), HasSubstr("You see a open "));
  EXPECT_THAT(told(false), HasSubstr("You see an open "));
}

TEST(BabyAiText, UnknownLevelsAndTasksAreRefused) {
  const auto message = [](const BabyAiOptions& options) {
    return FatalErrorOf(ExitCode::kUsage, [&] { const BabyAiText game(options); });
  };
  EXPECT_THAT(message({"Maze", "", false}), HasSubstr("MixedTrainLocal"));
  EXPECT_THAT(message({"", "fly", false}), HasSubstr("putnext"));
  EXPECT_THAT(message({"GoToLocal", "open", false}), HasSubstr("has no missions of the kind open"));
  EXPECT_NO_THROW(BabyAiText({"BabyAI-GoToLocal-v0", "goto", false}));
}

// Of every level and kind of mission; babyai_bench plays 1,000 episodes of each.
TEST(BabyAiBot, SolvesWhatItSeesOnlyInWords) {
  constexpr int kEpisodes = 50;
  for (const BabyAiLevel& level : BabyAiLevels()) {
    for (const BabyAiTask task : level.tasks) {
      const BabyAiText game({std::string(level.name), std::string(BabyAiTaskName(task)), false});
      int solved = 0;
      for (int i = 0; i < kEpisodes; ++i) {
        BabyAiTextState state = *game.Start(i);
        for (const std::string& action : Gold(game, i)) game.Step(state, action);
        solved += state.game.solved() ? 1 : 0;
      }
      EXPECT_GE(solved, kEpisodes - 1) << level.name << " " << BabyAiTaskName(task);
    }
  }
}

TEST(BabyAiMission, ReadsTheSurfaceForms) {
  const auto text = [](std::string_view mission) {
    std::string said;
    for (const BabyAiErrand& errand : ReadBabyAiMission(mission)) {
      said += fmt::format("{}:{}/{}", static_cast<int>(errand.kind), errand.what.color,
                          errand.what.type);
      if (errand.kind == BabyAiErrand::kPutNext) {
        said += fmt::format(">{}/{}", errand.beside.color, errand.beside.type);
      }
      said += ' ';
    }
    return said;
  };
  EXPECT_EQ(text("go to the red ball"), "0:red/ball ");
  EXPECT_EQ(text("open the door"), "2:/door ");
  EXPECT_EQ(text("put a grey key next to the purple ball"), "3:grey/key>purple/ball ");
  EXPECT_EQ(text("pick up a blue box, then go to the red key"), "1:blue/box 0:red/key ");
  EXPECT_EQ(text("go to the red key after you pick up a blue box"), "1:blue/box 0:red/key ");
  EXPECT_EQ(text("clean the room"), "");
}

// A conversation as a tree stores it: blanks for line breaks.
TEST(BabyAiMap, ReadsStoredConversationsToo) {
  const std::string offered =
      " Available actions: [\"turn left\", \"turn right\", \"go forward\", \"pick up\", \"drop\", "
      "\"toggle\"]";
  const std::vector<Message> conversation = {
      {"user", "In a grid world …"},
      {"assistant", "Ok."},
      {"user",
       "Your goal: pick up the red ball You see a wall 3 steps forward, You see a red ball 1 "
       "step right and 1 step forward" +
           offered},
      {"assistant", "Thought: closer\nAction: go forward"},
      {"user", "You see a wall 2 steps forward, You see a red ball 1 step right" + offered},
      {"assistant", "Action: fly"},
      {"user", "The action is not recognized. Please check valid actions." + offered},
  };
  const std::optional<BabyAiScene> scene = ReadBabyAi(conversation);
  ASSERT_TRUE(scene);
  EXPECT_EQ(scene->wasted_turns, 1);
  EXPECT_EQ(scene->map.pose(), (BabyAiPose{{0, -1}, 3}));
  ASSERT_NE(scene->map.ThingAt({1, -1}), nullptr);
  EXPECT_EQ(scene->map.ThingAt({1, -1})->color, "red");
  EXPECT_FALSE(scene->map.IsFree({0, -3})) << "the wall";
  EXPECT_TRUE(scene->map.IsFree({0, -2}));
  EXPECT_EQ(PlanBabyAi(*scene).action, "turn right");
  EXPECT_FALSE(ReadBabyAi(std::span(conversation).first(2)));
}

}  // namespace
}  // namespace agentr
