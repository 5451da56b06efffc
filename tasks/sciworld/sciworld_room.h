// What the game says about a room and about what the agent carries, read from its replies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

struct SciWorldRoom {
  std::string name;                 // "living room"
  std::vector<std::string> things;  // by the names to use in actions, what containers hold too
  std::vector<std::string> doors;   // names of the rooms behind its doors, open or closed
};

// The room in a reply of "look around", or in a first observation; nothing where there is none. The
// reply's line breaks may have become spaces, as they do in a tree.
std::optional<SciWorldRoom> ReadSciWorldRoom(std::string_view text);

// The things in a reply of "inventory"; nothing for any other reply.
std::optional<std::vector<std::string>> ReadSciWorldInventory(std::string_view text);

// The room that a reply says the agent has moved to; "" for any other reply.
std::string ReadSciWorldMove(std::string_view text);

}  // namespace agentr
