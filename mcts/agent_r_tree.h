#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "mcts/tree.h"

namespace agentr {

// The agent-r format of mcts/tree_file.h. The score in it is the selection score at the end of the
// search, with c from the tree's options; 0 at the root and at unvisited nodes.
std::string WriteAgentRTree(const Tree& tree);

// The caller must set `terminal` of inner nodes. Throws nlohmann::json::exception or
// std::invalid_argument, which name the field.
Tree ReadAgentRTree(const nlohmann::ordered_json& document);

}  // namespace agentr
