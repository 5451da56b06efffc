#include "games/questions/twenty_questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "common/hash.h"
#include "games/questions/rule_oracle.h"

namespace agentr {
namespace {

class RuleOracle : public QuestionOracle {
 public:
  explicit RuleOracle(const WordTable& table) : table_(table) {}
  std::string name() const override { return "tables"; }
  Result<std::string> Answer(size_t word, std::string_view question) const override {
    return RuleAnswer(table_, word, question);
  }

 private:
  const WordTable& table_;
};

}  // namespace

std::unique_ptr<QuestionOracle> MakeRuleOracle(const WordTable& table) {
  return std::make_unique<RuleOracle>(table);
}

TwentyQuestions::TwentyQuestions(bool reference, std::unique_ptr<QuestionOracle> oracle)
    : reference_(reference), oracle_(oracle ? std::move(oracle) : MakeRuleOracle(table_)) {}

std::optional<TwentyQuestionsState> TwentyQuestions::Start(int64_t data_idx) const {
  if (data_idx < 0 || data_idx >= task_count()) return std::nullopt;
  TwentyQuestionsState state{.word = static_cast<size_t>(data_idx)};
  state.observation = reference_ ? state.game.history : "Questions:";
  return state;
}

Result<int> TwentyQuestions::Step(TwentyQuestionsState& state, std::string_view question) const {
  state.reward = 0;
  if (!reference_ && (question == "wait" || PlainQuestion(question).empty())) {
    state.observation = kNoQuestion;
    return 0;
  }
  AGENTR_ASSIGN_OR_RETURN(const std::string said, oracle_->Answer(state.word, question));
  const std::string answer = MapOracle(said, OracleMapping::kContains);
  const bool wins = WinsTwentyQuestions(question, answer, table_.words()[state.word].aliases,
                                        reference_ ? WinTest::kReference : WinTest::kMended);
  const int reward = AskAndScore(state, question, answer, wins);
  state.observation = reference_ ? state.game.history : answer;
  return reward;
}

std::string TwentyQuestions::DataHash() const {
  return QuestionsHash(table_, reference_, *oracle_);
}

int AskAndScore(TwentyQuestionsState& state, std::string_view question, std::string_view answer,
                bool wins) {
  const int reward = Ask(state.game, question, answer, wins);
  state.score = state.game.Return();
  if (wins) {
    state.reward = static_cast<double>(kMostQuestions + state.game.Return()) / kMostQuestions;
  }
  return reward;
}

std::string QuestionsHash(const WordTable& table, bool reference, const QuestionOracle& oracle) {
  std::string text = fmt::format("reference={} oracle={}\n", reference, oracle.name());
  for (const GuessWord& word : table.words()) {
    text += fmt::format("{} | {}\n", word.category, fmt::join(word.aliases, ";"));
  }
  for (const WordProperty& property : table.properties()) {
    text +=
        fmt::format("{} | {}\n", fmt::join(property.phrases, ","), property.members.to_string());
  }
  return Sha256(text);
}

}  // namespace agentr
