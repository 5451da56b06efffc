// The scripted policy of BabyAI-Text (babyai_bot.h): all it knows is what the conversation shows.
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

// Null if the conversation shows no task of this kind.
std::unique_ptr<PolicyState> ReadBabyAiPolicy(std::span<const Message> conversation);

}  // namespace agentr
