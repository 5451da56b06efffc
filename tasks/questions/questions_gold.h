// Questions that solve a task of Twenty Questions and Guess My City: what the scripted asker
// (asker.h) asks until it wins or the game ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "games/questions/guess_my_city.h"
#include "games/questions/twenty_questions.h"

namespace agentr {

std::vector<std::string> Gold(const TwentyQuestions& game, int64_t data_idx);
std::vector<std::string> Gold(const GuessMyCity& game, int64_t data_idx);

}  // namespace agentr
