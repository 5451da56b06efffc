#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "mcts/tree.h"

namespace agentr {

// The compact format of mcts/tree_file.h.
std::string WriteCompactTree(const Tree& tree);

// The caller must set `terminal` of inner nodes. Throws nlohmann::json::exception or
// std::invalid_argument, which name the field.
Tree ReadCompactTree(const nlohmann::ordered_json& document);

}  // namespace agentr
