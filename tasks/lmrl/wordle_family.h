// Wordle as a kind of task: the family, AgentGym's dialect for it, a player that asks for the most,
// and the guesses that solve a task.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/env/http_dialect.h"
#include "games/lmrl/wordle.h"
#include "tasks/scripted_policy.h"
#include "tasks/task_family.h"

namespace agentr {

// No turn leaves the state as it was: a guess that is refused is one of the six too.
class WordleFamily : public TaskFamily {
 public:
  std::string_view name() const override { return "wordle"; }
  // In small letters, as the words of the list are.
  std::string ParseAction(std::string_view response) const override;
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  int SearchDepth(int /*task*/) const override { return WordleState::kMostGuesses; }
};

// That of AgentGym's server lmrlgym.
HttpDialect WordleDialect();

// A player that guesses the word, among those that fit all marks, whose marks will leave the fewest
// words on average. Null if the conversation shows no game.
std::unique_ptr<PolicyState> ReadWordlePolicy(std::span<const Message> conversation);

// What that player guesses until the game ends.
std::vector<std::string> Gold(const Wordle& game, int64_t seed);

}  // namespace agentr
