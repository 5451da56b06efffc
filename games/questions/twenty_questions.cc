#include "games/questions/twenty_questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "common/hash.h"
#include "games/questions/rule_oracle.h"

namespace agentr {
namespace {

class TablesOracle : public QuestionOracle {
 public:
  explicit TablesOracle(std::function<std::string(size_t, std::string_view)> answers)
      : answers_(std::move(answers)) {}
  std::string name() const override { return "tables"; }
  Result<std::string> Answer(size_t word, std::string_view question) const override {
    return answers_(word, question);
  }

 private:
  const std::function<std::string(size_t, std::string_view)> answers_;
};

}  // namespace

GuessingGame::GuessingGame(const WordTable& table, bool reference,
                           std::unique_ptr<QuestionOracle> oracle, Answers built_in, Judge judge)
    : table_(table),
      reference_(reference),
      oracle_(oracle ? std::move(oracle) : std::make_unique<TablesOracle>(std::move(built_in))),
      judge_(std::move(judge)) {}

std::optional<TwentyQuestionsState> GuessingGame::Start(int64_t data_idx) const {
  if (data_idx < 0 || data_idx >= task_count()) return std::nullopt;
  State state{.word = static_cast<size_t>(data_idx)};
  state.observation = reference_ ? state.game.history : "Questions:";
  return state;
}

Result<int> GuessingGame::Step(State& state, std::string_view question) const {
  state.reward = 0;
  if (!reference_ && (question == "wait" || PlainQuestion(question).empty())) {
    state.observation = kNoQuestion;
    return 0;
  }
  AGENTR_ASSIGN_OR_RETURN(const std::string said, oracle_->Answer(state.word, question));
  const auto [answer, wins] =
      judge_(state.word, question, said, reference_ ? WinTest::kReference : WinTest::kMended);
  const int reward = Ask(state.game, question, answer, wins);
  state.score = state.game.Return();
  if (wins) {
    state.reward = static_cast<double>(kMostQuestions + state.game.Return()) / kMostQuestions;
  }
  state.observation = reference_ ? state.game.history : answer;
  return reward;
}

std::string GuessingGame::DataHash() const {
  std::string text = fmt::format("reference={} oracle={}\n", reference_, oracle_->name());
  for (const GuessWord& word : table_.words()) {
    text += fmt::format("{} | {}\n", word.category, fmt::join(word.aliases, ";"));
  }
  for (const WordProperty& property : table_.properties()) {
    text +=
        fmt::format("{} | {}\n", fmt::join(property.phrases, ","), property.members.to_string());
  }
  return Sha256(text);
}

TwentyQuestions::TwentyQuestions(bool reference, std::unique_ptr<QuestionOracle> oracle)
    : GuessingGame(
          WordTable::BuiltIn(), reference, std::move(oracle),
          [](size_t word, std::string_view question) {
            return RuleAnswer(WordTable::BuiltIn(), word, question);
          },
          [](size_t word, std::string_view question, const std::string& said, WinTest form) {
            const std::string answer = MapOracle(said, OracleMapping::kContains);
            const auto& names = WordTable::BuiltIn().words()[word].aliases;
            return Judgement{answer, WinsTwentyQuestions(question, answer, names, form)};
          }) {}

}  // namespace agentr
