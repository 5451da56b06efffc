// The rules of the guessing games against recorded games, the built-in oracle, and the asker.
#include "games/questions/twenty_questions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "clients/fake_language_model.h"
#include "games/questions/guess_my_city.h"
#include "games/questions/rule_oracle.h"
#include "servers/model_oracle.h"
#include "tasks/questions/asker.h"
#include "tasks/questions/questions_family.h"
#include "tasks/questions/questions_gold.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const WordTable& Table() { return WordTable::BuiltIn(); }

// One turn of a recorded game by its rules.
int AskRecorded(const json& golden, const json& turn, QuestionGame& game) {
  const std::string question = turn.at("question");
  const std::string said = turn.at("oracle_text");
  constexpr WinTest kForm = WinTest::kReference;
  if (golden.at("game") == "guess_my_city") {
    const std::string place = golden.at("target");
    const std::string city = place.substr(0, place.find(','));
    return Ask(game, question, GuardCity(said, city, kForm),
               WinsGuessMyCity(question, city, kForm));
  }
  const bool offline = golden.at("game") == "twenty_questions_offline";
  const std::string answer =
      MapOracle(said, offline ? OracleMapping::kExact : OracleMapping::kContains);
  const std::vector<std::string> names = golden.at("target");
  return Ask(game, question, answer, WinsTwentyQuestions(question, answer, names, kForm));
}

TEST(QuestionGame, RecordedGamesOfTheOriginalsReplay) {
  const json games = json::parse(std::ifstream(AGENTR_SOURCE_DIR "/tests/golden/rl/games.json"));
  int turns = 0;
  for (const json& golden : games) {
    QuestionGame game;
    EXPECT_EQ(game.history, golden.at("initial").get<std::string>());
    for (const json& turn : golden.at("turns")) {
      const json& expected = turn.at("result");
      ASSERT_EQ(game.done(), expected.is_null()) << golden.at("game") << " " << turn;
      if (game.done()) continue;
      const int reward = AskRecorded(golden, turn, game);
      EXPECT_EQ(reward, expected.at("reward")) << turn;
      EXPECT_EQ(game.done(), expected.at("done")) << turn;
      ASSERT_EQ(game.history, expected.at("observation").get<std::string>());
      ++turns;
    }
  }
  EXPECT_EQ(games.size(), 12U);
  EXPECT_EQ(turns, 69);
}

TEST(QuestionGame, TheMendedTestsCompareWholeNames) {
  const std::vector<std::string> ball = {"soccer ball"};
  constexpr WinTest kMended = WinTest::kMended;
  EXPECT_TRUE(WinsTwentyQuestions("Is it a Soccer ball?", "Yes.", ball, kMended));
  EXPECT_FALSE(WinsTwentyQuestions("Is it a Soccer ball?", "Yes.", ball, WinTest::kReference));
  EXPECT_FALSE(WinsTwentyQuestions("Is it a Soccer ball?", "No.", ball, kMended));
  EXPECT_FALSE(WinsTwentyQuestions("Is it a soccer ball or a hat?", "Yes.", ball, kMended));
  const std::vector<std::string> pan = {"pan"};
  EXPECT_FALSE(WinsTwentyQuestions("Is it Japan?", "Yes.", pan, kMended));
  EXPECT_FALSE(WinsGuessMyCity("How is the climate?", "Lima", kMended));
  EXPECT_TRUE(WinsGuessMyCity("Is it Lima, perhaps?", "Lima", kMended));
  EXPECT_EQ(GuardCity("The climate is mild.", "Lima", kMended), "The climate is mild.");
  EXPECT_EQ(GuardCity("It is Lima.", "Lima", kMended), "I can't answer that question.");
}

TEST(WordTable, HasTheWordsOfTheSheet) {
  EXPECT_EQ(Table().words().size(), 157U);
  EXPECT_EQ(Table().category_count(), 17U);
  const std::vector<std::string> subset = {"football", "dog",   "banana", "truck", "pants",
                                           "computer", "piano", "chair",  "pen",   "scissors"};
  for (size_t i = 0; i < subset.size(); ++i) {
    EXPECT_EQ(Table().words()[10 * i + 1].aliases.front(), subset[i]);
  }
  EXPECT_EQ(Table().Find("Pair of Pants"), Table().Find("pants"));
  EXPECT_FALSE(Table().Find("stuffed animal"));
}

TEST(WordTable, SaysWhatIsWrongInItsFiles) {
  const auto message = [](const std::string& objects, const std::string& attributes) {
    return FatalErrorOf(ExitCode::kFile, [&] { const WordTable table(objects, attributes); });
  };
  EXPECT_NO_THROW(WordTable("Pets | pet\nCat, Dog", "soft | Cat, not Dog"));
  EXPECT_THAT(message("Cat, Dog", ""), HasSubstr("objects.txt:1: "));
  EXPECT_THAT(message("Pets | pet\nCat\nDog;Cat", ""),
              HasSubstr("objects.txt:3: \"Cat\" is the name of two"));
  EXPECT_THAT(message("Pets | pet\nCat", "soft | Cat\nwild | Wolf"),
              HasSubstr("attributes.txt:2: \"Wolf\" is neither"));
  EXPECT_THAT(message("Pets | pet\nCat", "soft"), HasSubstr("attributes.txt:1: expected a '|'"));
}

TEST(RuleOracle, AnswersByNamesCategoriesAndProperties) {
  const auto answer = [](const char* word, const char* question) {
    return RuleAnswer(Table(), *Table().Find(word), question);
  };
  EXPECT_EQ(answer("banana", "Is it a banana?"), "yes");
  EXPECT_EQ(answer("banana", "Is the object an apple?"), "no");
  EXPECT_EQ(answer("banana", "Is it a fruit?"), "yes");
  EXPECT_EQ(answer("banana", "Is it a type of fruit or vegetable?"), "yes");
  EXPECT_EQ(answer("carrot", "Is it a cat or a carrot?"), "yes");
  EXPECT_EQ(answer("carrot", "Is it not a fruit?"), "yes");
  EXPECT_EQ(answer("banana", "Isn't it a fruit?"), "no") << "a negation turns it around";
  EXPECT_EQ(answer("piano", "Is it bigger than a breadbox?"), "yes");
  EXPECT_EQ(answer("piano", "Can you eat it?"), "no");
  EXPECT_EQ(answer("piano", "Does it glow at night?"), "invalid question");
  EXPECT_EQ(answer("pants", "Is it a pair of pants?"), "yes");
  EXPECT_EQ(answer("piano", ""), "invalid question");
}

TEST(RuleOracle, CategoryQuestionsAgreeWithTheList) {
  for (size_t i = 0; i < Table().words().size(); ++i) {
    for (size_t c = 0; c < Table().category_count(); ++c) {
      const WordProperty& category = Table().properties()[c];
      for (const std::string& phrase : category.phrases) {
        EXPECT_EQ(RuleAnswer(Table(), i, "Is it one of the " + phrase + "?"),
                  category.members[i] ? "yes" : "no")
            << Table().words()[i].aliases.front() << ", " << phrase;
      }
    }
  }
}

// What a question of the asker means to the oracle is what the asker takes it to mean.
TEST(RuleOracle, EveryPropertyCanBeAsked) {
  ASSERT_FALSE(Table().properties().empty());
  for (const WordProperty& property : Table().properties()) {
    EXPECT_EQ(AnswersYes(Table(), "Is it " + property.phrases.front() + "?"), property.members)
        << property.phrases.front();
    EXPECT_TRUE(property.members.any()) << property.phrases.front();
  }
}

TEST(TwentyQuestions, EveryNameOfEveryObjectWins) {
  const TwentyQuestions mended(/*reference=*/false);
  const TwentyQuestions reference(/*reference=*/true);
  std::vector<std::string> lost;
  for (int64_t task = 0; task < mended.task_count(); ++task) {
    bool any = false;
    for (const std::string& name : Table().words()[static_cast<size_t>(task)].aliases) {
      TwentyQuestionsState state = *mended.Start(task);
      mended.Step(state, "Is it a " + name + "?").value();
      EXPECT_TRUE(state.game.won) << name;
      EXPECT_EQ(state.reward, 1);
      state = *reference.Start(task);
      reference.Step(state, "Is it a " + name + "?").value();
      any = any || state.game.won;
    }
    if (!any) lost.push_back(Table().words()[static_cast<size_t>(task)].aliases.front());
  }
  EXPECT_THAT(lost, ElementsAre("soccer ball", "golf ball", "tennis ball", "tennis racket",
                                "baseball bat", "watering can", "lawn mower"));
}

TEST(TwentyQuestions, RewardsScoresAndRefusals) {
  const TwentyQuestions game(false);
  TwentyQuestionsState state = *game.Start(21);
  EXPECT_EQ(state.observation, "Questions:");
  const TwentyQuestionsState before = state;
  game.Step(state, "wait").value();
  EXPECT_EQ(state.observation, kNoQuestion);
  EXPECT_EQ(state.game, before.game);
  EXPECT_TRUE(TwentyQuestionsFamily().LeavesStateUnchanged("Questions:", "wait", kNoQuestion));
  game.Step(state, "Is it alive?").value();
  EXPECT_EQ(state.observation, "No.");
  EXPECT_EQ(state.score, -1);
  game.Step(state, "Is it a banana?").value();
  EXPECT_TRUE(state.done());
  EXPECT_EQ(state.score, -1);
  EXPECT_EQ(state.reward, 0.95);

  state = *game.Start(0);
  for (int i = 0; i < kMostQuestions; ++i) game.Step(state, "Is it a cat?").value();
  EXPECT_TRUE(state.done());
  EXPECT_EQ(state.score, -20);
  EXPECT_EQ(state.reward, 0);
  EXPECT_FALSE(game.Start(157));
}

// An oracle that has broken down.
class SilentOracle : public QuestionOracle {
 public:
  std::string name() const override { return "silent"; }
  Result<std::string> Answer(size_t, std::string_view) const override {
    return Fail(ErrorKind::kEnvironment, "the oracle does not answer");
  }
};

TEST(TwentyQuestions, AnOracleThatFailsCostsNoQuestion) {
  const TwentyQuestions game(false, std::make_unique<SilentOracle>());
  TwentyQuestionsState state = *game.Start(3);
  const TwentyQuestionsState before = state;
  const Result<int> step = game.Step(state, "Is it alive?");
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().message, "the oracle does not answer");
  EXPECT_EQ(state, before);
}

TEST(Asker, WinsInAtMostNineQuestionsOnAverage) {
  const TwentyQuestions game(false);
  size_t sum = 0;
  size_t most = 0;
  for (int64_t task = 0; task < game.task_count(); ++task) {
    const std::vector<std::string> questions = Gold(game, task);
    TwentyQuestionsState state = *game.Start(task);
    for (const std::string& question : questions) game.Step(state, question).value();
    EXPECT_TRUE(state.game.won) << task;
    sum += questions.size();
    most = std::max(most, questions.size());
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(game.task_count());
  RecordProperty("questions", fmt::format("{:.2f}", mean));
  fmt::print("the asker needs {:.2f} questions on average, {} at most\n", mean, most);
  EXPECT_LE(mean, 9);
}

TEST(ModelOracle, AsksTheModelInFewWords) {
  auto model = std::make_unique<FakeLanguageModel>(std::vector<std::string>{"Yes, it\nis."});
  const FakeLanguageModel& asked = *model;
  model->FailAt(1, Error{ErrorKind::kServer, "nobody there"});
  const TwentyQuestions game(false, std::make_unique<ModelOracle>(std::move(model), Table()));
  TwentyQuestionsState state = *game.Start(21);
  game.Step(state, "Is it sweet?").value();
  EXPECT_EQ(state.observation, "Yes.");
  ASSERT_EQ(asked.prompts().size(), 1U);
  EXPECT_EQ(asked.prompts()[0][0].content,
            "The object is banana. Is it sweet? Answer with yes or no.");
  EXPECT_FALSE(game.Step(state, "Is it red?"));
  EXPECT_EQ(state.game.asked, 1);
  EXPECT_NE(game.DataHash(), TwentyQuestions(false).DataHash());

  const ModelOracle city(
      std::make_unique<FakeLanguageModel>(std::vector<std::string>{"In Peru.\nWhy?"}),
      CityTable::BuiltIn());
  EXPECT_EQ(city.Answer(18, "Where is it?").value(), "In Peru. Why?");
}

// Cities.

TEST(CityTable, HasTheCitiesOfTheSheetInTheirOrder) {
  const std::vector<CityFacts>& cities = CityTable::BuiltIn().cities();
  ASSERT_EQ(cities.size(), 91U);
  EXPECT_EQ(cities[18].city, "Lima");
  EXPECT_EQ(cities[52].city, "Rome");
  EXPECT_EQ(cities[71].city, "Paris");
  EXPECT_EQ(cities[75].country, "Colombia");
  EXPECT_THAT(FatalErrorOf(ExitCode::kFile, [] { CityTable("Lima, Peru | South America"); }),
              HasSubstr("cities.txt:1: 2 fields instead of 9"));
}

TEST(CityAnswer, WordsThatSayNothingOrAreInOthersDoNotAnswer) {
  const CityTable& table = CityTable::BuiltIn();
  const auto answer = [&](const char* city, const char* question) {
    return CityAnswer(table, *table.words().Find(city), question);
  };
  EXPECT_EQ(answer("Seoul", "Is your city in the USA?"), "No.");
  EXPECT_EQ(answer("Chicago", "Is your city in the USA?"), "Yes.");
  EXPECT_EQ(answer("Seoul", "Does the city please you?"), "I do not know.");
  EXPECT_EQ(answer("Rome", "Is it a European city?"), "Yes.");
  EXPECT_EQ(answer("Lima", "Is it a European city?"), "No.");
  EXPECT_EQ(answer("Lima", "Is it a South American city?"), "Yes.");
  EXPECT_EQ(answer("Lima", "What is a great feature of the weather?"), "The climate is desert.");
  EXPECT_EQ(answer("Lima", "Which dishes do you like?"), "People like ceviche.");
  EXPECT_EQ(answer("Lima", "What makes it great?"), "I do not know.");
}

TEST(GuessMyCity, AnswersAndGuardsItsName) {
  const GuessMyCity game(false);
  TwentyQuestionsState state = *game.Start(18);
  const auto ask = [&](const char* question) {
    game.Step(state, question).value();
    return state.observation;
  };
  EXPECT_EQ(ask("Is it in South America?"), "Yes.");
  EXPECT_EQ(ask("Do people there speak Portuguese?"), "No.");
  EXPECT_EQ(ask("Is it the capital?"), "Yes.");
  EXPECT_EQ(ask("How is the climate?"), "The climate is desert.") << "no win by \"climate\"";
  EXPECT_EQ(ask("Which country is it in?"), "It is in Peru.");
  EXPECT_EQ(ask("Do you like it?"), "I do not know.");
  EXPECT_FALSE(state.done());
  ask("Is your home town Lima?");
  EXPECT_TRUE(state.game.won);
  EXPECT_EQ(state.score, -6);

  state = *game.Start(27);
  EXPECT_EQ(ask("Which country is it in?"), "I can't answer that question.") << "Singapore";
}

TEST(GuessMyCity, TheAskerFindsEveryCity) {
  const GuessMyCity game(false);
  size_t sum = 0;
  for (int64_t task = 0; task < game.task_count(); ++task) {
    TwentyQuestionsState state = *game.Start(task);
    const std::vector<std::string> questions = Gold(game, task);
    for (const std::string& question : questions) game.Step(state, question).value();
    EXPECT_TRUE(state.game.won) << CityTable::BuiltIn().cities()[state.word].city;
    sum += questions.size();
  }
  fmt::print("the asker needs {:.2f} questions on average for a city\n",
             static_cast<double>(sum) / static_cast<double>(game.task_count()));
  EXPECT_LE(sum, 9 * static_cast<size_t>(game.task_count()));
}

}  // namespace
}  // namespace agentr
