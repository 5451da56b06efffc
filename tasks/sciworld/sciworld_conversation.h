// What a SciWorld conversation shows: the actions taken, where the agent stands, and what it has
// seen there.
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
  std::string task;                           // the first observation, which describes it
  std::vector<std::string> actions;           // SciWorldKey of each, in order
  std::string start;                          // the room that the task began in; "" unknown
  std::string room;                           // where the agent stands; "" unknown
  std::map<std::string, SciWorldRoom> rooms;  // as each was last seen
  std::vector<std::string> held;              // what the agent has picked up, as far as it was told
  bool ambiguous = false;                     // the game waits for the number of what was meant
  std::string failed_action;  // the last action that the game did not understand; "" if none
  int wasted_turns = 0;       // turns in a row, up to now, that it did not understand

  // What was seen of this room; empty if it was not looked at.
  const SciWorldRoom& Here() const;
};

// Reads the conversation; nothing when no message of it describes a task. Turns cut out after the
// first observation are tolerated: what they told is missing.
std::optional<SciWorldView> ReadSciWorld(std::span<const Message> conversation);

}  // namespace agentr
