// Actions that solve a task of Detective: what the scripted explorer (detective_map.h) does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "games/detective/detective.h"

namespace agentr {

std::vector<std::string> Gold(const Detective& game, int64_t data_idx);

}  // namespace agentr
