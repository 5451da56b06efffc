#include "games/questions/guess_my_city.h"

#include <utility>

#include "common/hash.h"

namespace agentr {
namespace {

class CityOracle : public QuestionOracle {
 public:
  explicit CityOracle(const CityTable& table) : table_(table) {}
  std::string name() const override { return "tables"; }
  Result<std::string> Answer(size_t city, std::string_view question) const override {
    return CityAnswer(table_, city, question);
  }

 private:
  const CityTable& table_;
};

}  // namespace

GuessMyCity::GuessMyCity(bool reference, std::unique_ptr<QuestionOracle> oracle)
    : reference_(reference),
      oracle_(oracle ? std::move(oracle) : std::make_unique<CityOracle>(table_)) {}

std::optional<TwentyQuestionsState> GuessMyCity::Start(int64_t data_idx) const {
  if (data_idx < 0 || data_idx >= task_count()) return std::nullopt;
  State state{.word = static_cast<size_t>(data_idx)};
  state.observation = reference_ ? state.game.history : "Questions:";
  return state;
}

Result<int> GuessMyCity::Step(State& state, std::string_view question) const {
  state.reward = 0;
  if (!reference_ && (question == "wait" || PlainQuestion(question).empty())) {
    state.observation = kNoQuestion;
    return 0;
  }
  const WinTest form = reference_ ? WinTest::kReference : WinTest::kMended;
  const std::string& city = table_.cities()[state.word].city;
  AGENTR_ASSIGN_OR_RETURN(const std::string said, oracle_->Answer(state.word, question));
  const std::string answer = GuardCity(said, city, form);
  const int reward = AskAndScore(state, question, answer, WinsGuessMyCity(question, city, form));
  state.observation = reference_ ? state.game.history : answer;
  return reward;
}

std::string GuessMyCity::DataHash() const {
  return QuestionsHash(table_.words(), reference_, *oracle_);
}

}  // namespace agentr
