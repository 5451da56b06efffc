// Guess My City as an environment of tasks and texts, with the built-in oracle. Task i is the i-th
// city of configs/questions/cities.txt. Rewards and scores are those of Twenty Questions
// (twenty_questions.h).
#pragma once

#include <memory>
#include <string_view>

#include "games/questions/city_table.h"
#include "games/questions/twenty_questions.h"

namespace agentr {

class GuessMyCity : public GuessingGame {  // the state's `word` is the city
 public:
  static constexpr std::string_view kTask = "guess_my_city";
  static constexpr std::string_view kTitle = "GuessMyCity";

  // An answer with the city's name in it becomes "I can't answer that question.". With `reference`,
  // the city's name is found inside other words too ("climate" wins Lima), every text is a
  // question, and an observation is the whole history. Without `oracle` the built-in one answers.
  explicit GuessMyCity(bool reference, std::unique_ptr<QuestionOracle> oracle = nullptr);
};

}  // namespace agentr
