// The facts that a SciWorld conversation shows: the actions taken, the agent's room, and what it
// has seen.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "tasks/sciworld/sciworld_room.h"

namespace agentr {

struct SciWorldView {
  std::string task;                           // the first observation, which describes the task
  std::vector<std::string> actions;           // SciWorldKey of each, in order
  std::string start;                          // the room in which the task began; "" if unknown
  std::string room;                           // the agent's room; "" if unknown
  std::map<std::string, SciWorldRoom> rooms;  // as each was last seen
  std::vector<std::string> held;              // what the agent has picked up, as far as known
  bool ambiguous = false;                     // the game waits for a number that resolves an
                                              // ambiguous request
  std::string failed_action;  // the last action that the game did not understand; "" if none
  int wasted_turns = 0;       // the number of last turns in a row that it did not understand

  // What was seen in the present room; empty if the agent has not looked around there.
  const SciWorldRoom& Here() const;
};

// Reads the conversation; nullopt if no message describes a task. Turns may have been removed after
// the first observation; their information is then missing.
std::optional<SciWorldView> ReadSciWorld(std::span<const Message> conversation);

}  // namespace agentr
