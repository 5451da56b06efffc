// The scripted policy of TextCraft (textcraft_planner.h, textcraft_mistakes.h).
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

// Null if the conversation shows no task of this kind.
std::unique_ptr<PolicyState> ReadTextCraftPolicy(std::span<const Message> conversation);

}  // namespace agentr
