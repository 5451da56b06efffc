// The maze as a kind of task: the family, AgentGym's dialect for it, a player that knows the map,
// and the moves that solve a task.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/env/http_dialect.h"
#include "games/lmrl/maze.h"
#include "tasks/revision_hints.h"
#include "tasks/scripted_policy.h"
#include "tasks/task_family.h"

namespace agentr {

// No turn leaves the state as it was: a move into a wall is one of the 50 steps too.
class MazeFamily : public TaskFamily, public RevisionHints {
 public:
  std::string_view name() const override { return "maze"; }
  const RevisionHints& hints() const override { return *this; }
  // In small letters, as the moves are.
  std::string ParseAction(std::string_view response) const override;
  // What leaves the agent where it is: a wall, or no move.
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  // The observation tells the place.
  std::string StateKey(std::span<const Message> history) const override;
};

// That of AgentGym's server lmrlgym.
HttpDialect MazeDialect();

// A player that goes straight to the goal. Null if the conversation shows no maze.
std::unique_ptr<PolicyState> ReadMazePolicy(std::span<const Message> conversation);

// The moves from the beginning to the goal.
std::vector<std::string> Gold(const Maze& game, int64_t task);

}  // namespace agentr
