#include "demos/textcraft_demos.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/text.h"
#include "games/textcraft/recipe_text.h"
#include "games/textcraft/textcraft.h"
#include "games/textcraft/textcraft_prompt.h"
#include "tasks/action_text.h"
#include "tasks/splits.h"
#include "tasks/textcraft/textcraft_conversation.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/textcraft/textcraft_teacher.h"
#include "training/data/parsed_row.h"

namespace agentr {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr size_t kFirstObservation = 2;

std::string Content(const DemoRow& row, size_t message) {
  return row["messages"][message]["content"];
}

bool IsEpisode(const DemoRow& row) {
  return row["messages"].size() > kFirstObservation &&
         Content(row, kFirstObservation).find("Goal: craft ") != std::string::npos;
}

std::string GoalOf(const DemoRow& row) {
  const std::string text = Content(row, kFirstObservation);
  const size_t at = text.find("Goal: craft ") + 12;
  return text.substr(at, text.size() - 1 - at);
}

std::vector<DemoRow> Rows(TextCraftDemoOptions options, int books = 4) {
  std::vector<DemoRow> rows;
  for (int book = 0; book < books; ++book) {
    for (DemoRow& row : TextCraftDemos(options, 1, book)) rows.push_back(std::move(row));
  }
  return rows;
}

TEST(TextCraftDemosTest, NeverPlaysTheGoalOfATestTask) {
  const TextCraft game{RecipeBook(BuiltInRecipes())};
  std::set<std::string> test_goals;
  for (const int id : SplitOf("textcraft").test()) {
    test_goals.insert(DisplayName(game.book().Name(game.book().tasks()[game.TaskOf(id)])));
  }
  ASSERT_EQ(test_goals.size(), 100u);
  std::set<std::string> played;
  for (const DemoRow& row : Rows({.built_in = 1})) {
    if (IsEpisode(row)) played.insert(GoalOf(row));
  }
  EXPECT_THAT(played.size(), Gt(60u));
  for (const std::string& goal : played) EXPECT_FALSE(test_goals.contains(goal)) << goal;
}

// The game itself answers as the rows say; only what it takes is trained.
// With and without the inventory behind every reply.
TEST(TextCraftDemosTest, EpisodesAreThoseOfTheGame) {
  for (const bool shown : {false, true}) {
    const TextCraft game(RecipeBook(BuiltInRecipes()), shown);
    const TextCraftFamily family;
    int episodes = 0, mistakes = 0;
    for (const DemoRow& row : Rows({.slips = 0.3, .show_inventory = shown, .built_in = 1})) {
      if (!IsEpisode(row)) continue;
      ++episodes;
      uint32_t task = 0;
      while (DisplayName(game.book().Name(game.book().tasks()[task])) != GoalOf(row)) ++task;
      TextCraftState state = game.Start(task);
      for (size_t i = kFirstObservation + 1; i < row["messages"].size(); i += 2) {
        ASSERT_FALSE(state.done);
        const std::string action = family.ParseAction(Content(row, i));
        game.Step(state, action);
        if (i + 1 < row["messages"].size()) {
          EXPECT_EQ(Content(row, i + 1), OneLine(state.observation));
          EXPECT_EQ(Content(row, i + 1).find("Inventory: ") != std::string::npos,
                    shown || action == "inventory");
        }
        const bool trained = row["messages"][i]["weight"] == 1;
        if (trained) {
          EXPECT_FALSE(family.IsRefusal("", action, state.observation)) << action;
        }
        mistakes += trained ? 0 : 1;
      }
      EXPECT_TRUE(state.done);
    }
    EXPECT_THAT(episodes, Gt(100));
    EXPECT_THAT(mistakes, Gt(50));
  }
}

TEST(TextCraftDemosTest, MistakesAreTrainedWhereThatIsAskedFor) {
  const auto without = Rows({.slips = 0.3});
  const auto with = Rows({.slips = 0.3, .train_slips = true});
  ASSERT_EQ(without.size(), with.size());
  int trained_mistakes = 0;
  for (size_t row = 0; row < with.size(); ++row) {
    const auto& messages = with[row]["messages"];
    ASSERT_EQ(messages.size(), without[row]["messages"].size());
    for (size_t i = 0; i < messages.size(); ++i) {
      EXPECT_EQ(Content(with[row], i), Content(without[row], i));
      const bool turn =
          IsEpisode(with[row]) && i > kFirstObservation && messages[i]["role"] == "assistant";
      if (turn) {
        EXPECT_EQ(messages[i]["weight"], 1);
      }
      if (messages[i].value("weight", 0) != without[row]["messages"][i].value("weight", 0)) {
        EXPECT_TRUE(turn);
        ++trained_mistakes;
      }
    }
  }
  EXPECT_THAT(trained_mistakes, Gt(50));
}

TEST(TextCraftDemosTest, ARefusedTurnIsFollowedByALookWhereThatIsAskedFor) {
  const TextCraftFamily family;
  int looks = 0;
  for (const DemoRow& row : Rows({.slips = 0.3, .look = true})) {
    if (!IsEpisode(row)) continue;
    for (size_t i = kFirstObservation + 3; i < row["messages"].size(); i += 2) {
      const std::string shown = Content(row, i - 1);
      if (!family.IsRefusal("", "", shown)) continue;
      EXPECT_EQ(Content(row, i),
                "Thought: That did not work. I look at what I hold.\nAction: inventory");
      EXPECT_EQ(row["messages"][i]["weight"], 1);
      EXPECT_THAT(Content(row, i + 1), StartsWith("Inventory: "));
      EXPECT_THAT(Content(row, i + 2), Not(HasSubstr("That did not work.")));
      ++looks;
    }
  }
  EXPECT_THAT(looks, Gt(50));
}

// Behind the look stands another thought than the one that was refused, where without --beliefs the
// same one is said again.
TEST(TextCraftDemosTest, AWrongBeliefIsGivenUpBehindALook) {
  const TextCraftFamily family;
  const auto changes = [&](double beliefs) {
    int missing = 0, changed = 0;
    for (const DemoRow& row : Rows({.slips = 0.2, .look = true, .beliefs = beliefs})) {
      if (!IsEpisode(row)) continue;
      for (size_t i = kFirstObservation + 1; i + 4 < row["messages"].size(); i += 2) {
        if (!Content(row, i + 1).starts_with("Could not find enough items")) continue;
        EXPECT_EQ(row["messages"][i]["weight"], 0);
        const std::string wrong = Content(row, i), next = Content(row, i + 4);
        ++missing;
        changed += next.substr(0, next.find('\n')) != wrong.substr(0, wrong.find('\n')) ? 1 : 0;
      }
    }
    EXPECT_THAT(missing, Gt(50));
    return static_cast<double>(changed) / missing;
  };
  EXPECT_GT(changes(1), 0.6);
  EXPECT_EQ(changes(0), 0);
}

// The thought of a misread turn says a command that the list has not; no trained thought does.
TEST(TextCraftDemosTest, AMisreadCommandIsReadRightOnceTheGameRefusesIt) {
  int misread = 0, mended = 0;
  for (const DemoRow& row : Rows({.slips = 0.3, .misreadings = 1})) {
    if (!IsEpisode(row)) continue;
    std::vector<Message> history = {{"user", Content(row, kFirstObservation)}};
    bool was_misread = false;
    for (size_t i = kFirstObservation + 1; i < row["messages"].size(); i += 2) {
      const std::optional<TextCraftView> view = ReadTextCraft(history);
      ASSERT_TRUE(view);
      const std::string response = Content(row, i);
      const std::string thought(ThoughtOf(response));
      std::vector<std::string> recitals;
      for (const CraftCommand& command : view->commands) {
        recitals.push_back(Recital(*view, command));
      }
      // "log using …" is a part of "oak log using …".
      std::ranges::sort(recitals, std::greater(), &std::string::size);
      std::string rest = thought;
      for (const std::string& recital : recitals) {
        if (const size_t at = rest.find(recital); at != rest.npos) rest.erase(at, recital.size());
      }
      const bool is_misread = rest.find(" makes ") != rest.npos;
      if (row["messages"][i]["weight"] == 1) {
        EXPECT_FALSE(is_misread) << thought;
        if (was_misread) {
          EXPECT_THAT(thought, StartsWith("That did not work. "));
          ++mended;
        }
      }
      misread += is_misread ? 1 : 0;
      was_misread = is_misread;
      history.push_back({"assistant", Content(row, i)});
      if (i + 1 < row["messages"].size()) history.push_back({"user", Content(row, i + 1)});
    }
  }
  EXPECT_THAT(mended, Gt(50));
  EXPECT_THAT(misread, Gt(mended * 3 / 2)) << "an agent goes by what it misread for some turns";
}

TEST(TextCraftDemosTest, ARecoveryOwnsThatTheLastActionFailed) {
  const TextCraftFamily family;
  int recoveries = 0;
  for (const DemoRow& row : Rows({.slips = 0.3})) {
    if (!IsEpisode(row)) continue;
    for (size_t i = kFirstObservation + 3; i < row["messages"].size(); i += 2) {
      const bool refused = family.IsRefusal("", "", Content(row, i - 1));
      recoveries += refused ? 1 : 0;
      const auto owns = HasSubstr("That did not work.");
      if (refused) {
        EXPECT_THAT(Content(row, i), owns);
      } else {
        EXPECT_THAT(Content(row, i), Not(owns));
      }
      if (refused && row["messages"][i]["weight"] == 1) {
        EXPECT_NE(family.ParseAction(Content(row, i)), family.ParseAction(Content(row, i - 2)));
      }
    }
  }
  EXPECT_THAT(recoveries, Gt(30));
}

TEST(TextCraftDemosTest, RowsOfASceneBeginAlike) {
  std::string task, commands;
  int shared = 0;
  for (const DemoRow& row : Rows({})) {
    if (row["messages"].size() < 4) continue;  // a judgement
    const std::string text = Content(row, kFirstObservation);
    const std::string begin = text.substr(0, text.find("\n\n"));
    if (row["task"] == task) {
      EXPECT_EQ(begin, commands);
      ++shared;
    }
    task = row["task"];
    commands = begin;
  }
  EXPECT_THAT(shared, Gt(100));
}

// The same ones as with questions.
TEST(TextCraftDemosTest, WithoutQuestionsThereAreOnlyEpisodes) {
  std::vector<DemoRow> episodes = Rows({.judgements = 0});
  std::erase_if(episodes, [](const DemoRow& row) { return !IsEpisode(row); });
  EXPECT_EQ(Rows({.questions = 0, .judgements = 0}), episodes);
}

TEST(TextCraftDemosTest, JudgementsFollowWhatHappened) {
  std::map<std::string, int> verdicts;
  for (const DemoRow& row : Rows({.slips = 0.3, .judgements = 1})) {
    if (row["messages"].size() != 2) continue;
    const std::string question = Content(row, 0);
    const std::string answer = Content(row, 1);
    const std::string verdict = answer.substr(answer.rfind(' ') + 1);
    ++verdicts[verdict];
    const std::string step = question.substr(question.find("The step to judge:"));
    if (step.find("Observation: Could not") != std::string::npos) {
      EXPECT_EQ(verdict, "Bad");
    } else if (step.find("Action: inventory") != std::string::npos) {
      EXPECT_EQ(verdict, "Uncertain");
    }
  }
  EXPECT_THAT(verdicts["Good"], Gt(20));
  EXPECT_THAT(verdicts["Bad"], Gt(20));
  EXPECT_THAT(verdicts["Uncertain"], Gt(2));
}

TEST(TextCraftDemosTest, RowsAreReadByTheTrainer) {
  const auto rows = Rows({}, 1);
  ASSERT_FALSE(rows.empty());
  for (const DemoRow& row : rows) {
    const ParsedRow parsed = ParseRow(row.dump());
    EXPECT_EQ(parsed.format, DataFormat::kMessages);
    EXPECT_TRUE(parsed.learned.back().trained);
  }
}

TEST(TextCraftDemosTest, TheSeedAndTheBookDecide) {
  EXPECT_EQ(TextCraftDemos({}, 1, 0), TextCraftDemos({}, 1, 0));
  EXPECT_NE(TextCraftDemos({}, 1, 0), TextCraftDemos({}, 1, 1));
  EXPECT_NE(TextCraftDemos({}, 1, 0), TextCraftDemos({}, 2, 0));
}

}  // namespace
}  // namespace agentr
