// Guess My City as an environment of tasks and texts, with the built-in oracle. Task i is the i-th
// city of configs/questions/cities.txt. Rewards and scores are those of Twenty Questions
// (twenty_questions.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"
#include "games/questions/city_table.h"
#include "games/questions/twenty_questions.h"

namespace agentr {

class GuessMyCity {
 public:
  using State = TwentyQuestionsState;  // `word` is the city
  static constexpr std::string_view kTask = "guess_my_city";
  static constexpr std::string_view kTitle = "GuessMyCity";

  // With `reference`, the city's name is found inside other words too ("climate" wins Lima), every
  // text is a question, and an observation is the whole history. Without `oracle` the built-in one
  // answers.
  explicit GuessMyCity(bool reference, std::unique_ptr<QuestionOracle> oracle = nullptr);

  int64_t task_count() const { return static_cast<int64_t>(table_.cities().size()); }
  std::optional<State> Start(int64_t data_idx) const;

  // Asks, as TwentyQuestions::Step does. An answer with the city's name in it becomes "I can't
  // answer that question."
  Result<int> Step(State& state, std::string_view question) const;
  std::string DataHash() const;

 private:
  const CityTable& table_ = CityTable::BuiltIn();
  bool reference_;
  std::unique_ptr<QuestionOracle> oracle_;
};

}  // namespace agentr
