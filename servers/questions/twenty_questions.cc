#include "servers/questions/twenty_questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "common/hash.h"
#include "tasks/questions/asker.h"
#include "tasks/questions/questions_family.h"
#include "tasks/questions/rule_oracle.h"

namespace agentr {
namespace {

class RuleOracle : public QuestionOracle {
 public:
  explicit RuleOracle(const WordTable& table) : table_(table) {}
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
  const int reward = Ask(state.game, question, answer, wins);
  state.score = state.game.Return();
  if (wins)
    state.reward = static_cast<double>(kMostQuestions + state.game.Return()) / kMostQuestions;
  state.observation = reference_ ? state.game.history : answer;
  return reward;
}

std::vector<std::string> TwentyQuestions::Gold(int64_t data_idx) const {
  std::vector<std::string> questions;
  std::optional<TwentyQuestionsState> state = Start(data_idx);
  std::vector<Message> conversation;
  while (state && !state->done()) {
    const std::string question = BestQuestion(table_, ReadQuestions(table_, conversation));
    const auto before = state->game.history.size();
    if (!Step(*state, question)) break;
    questions.push_back(question);
    conversation.push_back({"assistant", "Action: " + question});
    // The line without the question, whether observations are answers or histories.
    conversation.push_back({"user", state->game.history.substr(before + question.size() + 1)});
  }
  return questions;
}

std::string TwentyQuestions::DataHash() const {
  std::string text = fmt::format("reference={}\n", reference_);
  for (const GuessWord& word : table_.words()) {
    text += fmt::format("{} | {}\n", word.category, fmt::join(word.aliases, ";"));
  }
  for (const WordProperty& property : table_.properties()) {
    text +=
        fmt::format("{} | {}\n", fmt::join(property.phrases, ","), property.members.to_string());
  }
  return Sha256(text);
}

}  // namespace agentr
