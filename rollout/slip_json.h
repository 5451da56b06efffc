// A slip in the files of episodes and trees, as the field "slip" of its turn or node.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "rollout/turn.h"

namespace agentr {

nlohmann::ordered_json SlipToJson(const Slip& slip);

// The slip of the turn; nullopt if it has none. Throws nlohmann::json::exception or
// std::invalid_argument, which name the field.
std::optional<Slip> ReadSlip(const nlohmann::ordered_json& turn);

}  // namespace agentr
