// Actions that solve a task of BabyAI-Text: what a bot that sees only the observations
// (babyai_bot.h) does from the beginning to the end of the episode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "games/babyai/babyai_text.h"

namespace agentr {

std::vector<std::string> Gold(const BabyAiText& game, int64_t data_idx);

}  // namespace agentr
