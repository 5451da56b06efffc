#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "mcts/tree.h"

namespace agentr {

// The compact format of mcts/tree_file.h.
std::string WriteCompactTree(const Tree& tree);

// Leaves `terminal` of inner nodes to the caller. Throws nlohmann::json::exception or
// std::invalid_argument, which name the field.
Tree ReadCompactTree(const nlohmann::ordered_json& document);

}  // namespace agentr
