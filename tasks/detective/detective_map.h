// What an agent in the game Detective knows about the house from the conversation alone.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

// An observation's parts. Points into it.
struct DetectiveView {
  std::string_view room;                    // its name
  std::string_view answer;                  // to the last action
  std::vector<std::string_view> actions;    // the valid ones
  std::vector<std::string_view> dangerous;  // directions
  std::vector<std::string_view> locked;     // directions
  bool has_key = false;
  bool culprit_is_here = false;
};

// nullopt: not an observation of the game.
std::optional<DetectiveView> ReadDetectiveView(std::string_view observation);

struct DetectiveMap {
  struct Room {
    DetectiveView view;                                   // when it was seen last
    std::map<std::string_view, std::string_view> behind;  // the room in a direction
  };

  std::map<std::string_view, Room> rooms;  // by name
  std::string_view here;
  bool has_key = false;
  int wasted_turns = 0;  // the last turns in a row that changed nothing

  const DetectiveView& view() const { return rooms.at(here).view; }
};

// The map of a conversation; nullopt if it shows no game. Points into `conversation`.
std::optional<DetectiveMap> ReadDetective(std::span<const Message> conversation);

// The next action of an explorer: it arrests, takes what it sees, and goes to the nearest door that
// it has not been through and that is safe. If none is left, it goes to the culprit, else
// anywhere.
std::string NextDetectiveAction(const DetectiveMap& map);

}  // namespace agentr
