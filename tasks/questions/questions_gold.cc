#include "tasks/questions/questions_gold.h"

#include <optional>

#include "clients/language_model.h"
#include "games/questions/city_table.h"
#include "games/questions/word_table.h"
#include "tasks/questions/asker.h"

namespace agentr {
namespace {

template <typename Game>
std::vector<std::string> PlayAsker(const Game& game, const WordTable& table, int64_t data_idx) {
  std::vector<std::string> questions;
  std::optional<TwentyQuestionsState> state = game.Start(data_idx);
  std::vector<Message> conversation;
  while (state && !state->done()) {
    const std::string question = BestQuestion(table, ReadQuestions(table, conversation));
    const size_t before = state->game.history.size();
    if (!game.Step(*state, question)) break;
    questions.push_back(question);
    conversation.push_back({"assistant", "Action: " + question});
    // The line without the question, whether observations are answers or histories.
    conversation.push_back({"user", state->game.history.substr(before + question.size() + 1)});
  }
  return questions;
}

}  // namespace

std::vector<std::string> Gold(const TwentyQuestions& game, int64_t data_idx) {
  return PlayAsker(game, WordTable::BuiltIn(), data_idx);
}

std::vector<std::string> Gold(const GuessMyCity& game, int64_t data_idx) {
  return PlayAsker(game, CityTable::BuiltIn().words(), data_idx);
}

}  // namespace agentr
