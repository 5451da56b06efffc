// Wordle and the maze: their rules against episodes of the original's own code, the families and
// the players that read the observations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "games/lmrl/maze.h"
#include "games/lmrl/wordle.h"
#include "tasks/lmrl/maze_family.h"
#include "tasks/lmrl/wordle_family.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const json& Golden() {
  static const json golden =
      json::parse(std::ifstream(AGENTR_SOURCE_DIR "/tests/golden/lmrl_games.json"));
  return golden;
}

// Plays the recorded episodes of `game`; returns the number of steps compared.
template <typename Game>
int ReplayEpisodes(const Game& game) {
  int steps = 0;
  for (const json& episode : Golden().at(std::string(Game::kTask))) {
    if (episode.contains("error")) continue;
    auto state = *game.Start(episode.at("task"));
    EXPECT_EQ(state.observation, episode.at("first"));
    for (const json& turn : episode.at("turns")) {
      EXPECT_FALSE(state.done());
      game.Step(state, turn.at(0).template get<std::string>());
      EXPECT_EQ(json({turn.at(0), state.observation, state.reward, state.done()}), turn)
          << episode.at("task");
      ++steps;
    }
  }
  return steps;
}

TEST(WordleGame, PlaysAsTheOriginal) {
  EXPECT_EQ(json(WordleWords()), Golden().at("words"));
  EXPECT_EQ(ReplayEpisodes(Wordle()), 176);
}

TEST(WordleGame, LettersAreMarkedWithoutBeingCounted) {
  EXPECT_EQ(WordleMarks("knoll", "could"), "bbygy");
  EXPECT_EQ(WordleMarks("aroma", "panic"), "ybbby");
  EXPECT_EQ(WordleMarks("panic", "panic"), "ggggg");
}

TEST(WordleGame, ThePlayerReadsTheMarksAndWins) {
  const Wordle game;
  int won = 0, guesses = 0;
  for (int64_t seed = 0; seed < game.task_count(); ++seed) {
    WordleState state = *game.Start(seed);
    std::vector<Message> shown = {{"user", "Guess."}, {"user", state.observation}};
    for (const std::string& guess : Gold(game, seed)) {
      // The conversation tells as much as the state.
      ASSERT_EQ(ReadWordlePolicy(shown)->Plan(), guess) << seed;
      game.Step(state, guess);
      shown.push_back({"assistant", "Thought: so.\nAction: " + guess});
      shown.push_back({"user", state.observation.substr(0, 9)});
      ++guesses;
    }
    won += state.won ? 1 : 0;
  }
  EXPECT_EQ(won, game.task_count());
  EXPECT_LT(guesses, 3.5 * static_cast<double>(game.task_count()));
  EXPECT_EQ(ReadWordlePolicy(std::vector<Message>{{"user", "You shop."}}), nullptr);
  EXPECT_FALSE(game.Start(980));
  EXPECT_FALSE(game.Start(-1));
}

TEST(WordleGame, AWastedGuessIsSeen) {
  std::vector<Message> shown = {{"user", "Let's start Wordle!"}};
  const auto play = [&](const std::string& action, const std::string& answer) {
    shown.push_back({"assistant", "Action: " + action});
    shown.push_back({"user", answer});
    return ReadWordlePolicy(shown)->wasted_turns();
  };
  EXPECT_EQ(play("s o l a r", "b b b b b"), 0);
  EXPECT_EQ(play("s o l a r", "b b b b b"), 1);
  EXPECT_EQ(play("wait", "invalid word"), 2);
  EXPECT_EQ(play("P R I C K", "b b y g b"), 0);
  EXPECT_EQ(ReadWordlePolicy(shown)->Plan(), "w i n c e") << "the only word that fits";
}

TEST(WordleFamily, ARefusalCostsAGuess) {
  const WordleFamily family;
  EXPECT_TRUE(family.IsRefusal("", "wait", "invalid word"));
  EXPECT_FALSE(family.IsRefusal("", "c o u l d", "b b y y g\n"));
  EXPECT_FALSE(family.LeavesStateUnchanged("", "wait", "invalid word"));
  EXPECT_EQ(family.ParseAction("Thought: C.\nAction: C O U L D"), "c o u l d");
  std::string prompt = family.Instruction().front().content;
  for (const std::string_view word : WordleWords())
    EXPECT_THAT(prompt, HasSubstr(std::string(word)));
}

TEST(MazeGame, PlaysAsTheOriginal) {
  const json& map = Golden().at("map");
  for (int row = -1; row <= 10; ++row) {
    for (int column = -1; column <= 13; ++column) {
      const bool inside = row >= 0 && row < 10 && column >= 0 && column < 13;
      const bool free =
          inside &&
          map.at(static_cast<size_t>(row)).get<std::string>().at(static_cast<size_t>(column)) ==
              '.';
      EXPECT_EQ(IsFree({row, column}), free) << row << " " << column;
    }
  }
  EXPECT_EQ(ReplayEpisodes(Maze()), 349);
}

TEST(MazeGame, ThePlayerTakesTheOriginalsBestMoves) {
  const Maze game;
  for (int64_t task = 0; task < Maze::kBeginnings; ++task) {
    std::vector<std::string> best;
    for (const json& turn : Golden().at("maze").at(static_cast<size_t>(task)).at("turns"))
      best.push_back(turn.at(0));
    EXPECT_EQ(Gold(game, task), best);
    EXPECT_EQ(Gold(game, task + 215), Gold(game, (task + 15) % 25));
  }
  EXPECT_FALSE(game.Start(240));
}

TEST(MazeFamily, ReadsThePlaceAndTheWalls) {
  const Maze game;
  MazeState state = *game.Start(0);
  const std::string before = state.observation;
  std::vector<Message> shown = {{"user", "You walk."}, {"user", before}};
  EXPECT_EQ(ReadMazePolicy(shown)->Plan(), "move right");
  game.Step(state, "move up");
  shown.push_back({"assistant", "Action: move up"});
  shown.push_back({"user", state.observation});
  EXPECT_EQ(ReadMazePolicy(shown)->wasted_turns(), 1);
  EXPECT_EQ(ReadMazePolicy(std::span(shown).first(1)), nullptr);
  const MazeFamily family;
  EXPECT_TRUE(family.IsRefusal(before, "move up", state.observation));
  EXPECT_FALSE(family.LeavesStateUnchanged(before, "move up", state.observation))
      << "it is one of the 50 steps";
  game.Step(state, "move right");
  EXPECT_FALSE(family.IsRefusal(before, "move right", state.observation));
  EXPECT_EQ(family.StateKey(std::vector<Message>{{"user", before}}), before);
  EXPECT_EQ(family.ParseAction("Action: Move Right"), "move right");
}

}  // namespace
}  // namespace agentr
