// Reads rooms, moves and the inventory from the game's replies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

struct SciWorldRoom {
  std::string name;                 // "living room"
  std::vector<std::string> things;  // by the names to use in actions, including the contents of
                                    // containers
  std::vector<std::string> doors;   // names of the rooms behind its doors, open or closed
};

// The room in a reply to "look around", or in a first observation; nullopt if there is none. Line
// breaks may have become spaces, as in tree files.
std::optional<SciWorldRoom> ReadSciWorldRoom(std::string_view text);

// The things in a reply to "inventory"; nullopt for any other reply.
std::optional<std::vector<std::string>> ReadSciWorldInventory(std::string_view text);

// The room that a reply says the agent has moved to; "" for any other reply.
std::string ReadSciWorldMove(std::string_view text);

}  // namespace agentr
