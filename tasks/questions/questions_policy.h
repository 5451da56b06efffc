// The scripted policy of Twenty Questions and Guess My City (asker.h).
#pragma once

#include "games/questions/word_table.h"
#include "tasks/scripted_policy.h"

namespace agentr {

// Null if the conversation shows no such game. `table` outlives the result.
std::unique_ptr<PolicyState> ReadQuestionsPolicy(std::span<const Message> conversation,
                                                 const WordTable& table);

}  // namespace agentr
