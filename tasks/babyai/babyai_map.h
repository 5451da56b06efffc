// What an agent in BabyAI-Text knows about its room from the conversation alone: a map in its own
// frame, in which it began at (0, 0) and faced north (y grows to the south).
//
// The room is known to be 8 x 8 cells with its walls. An agent that stays in the room, as every
// mission allows, sees everything in a window of 7 x 7 cells ahead of it, because objects do not
// hide one another.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

// One thing that is seen or carried: colour, type ("key", "ball", "box", "door") and, for a door,
// "open", "closed" or "locked". Points into the text that named it.
struct BabyAiThing {
  std::string_view color;
  std::string_view type;
  std::string_view state = "";

  bool IsOpenDoor() const { return state == "open"; }
  bool operator==(const BabyAiThing&) const = default;
};

// "the red ball": a missing colour means any.
struct BabyAiWanted {
  std::string_view color;
  std::string_view type;

  bool Matches(const BabyAiThing& thing) const {
    return type == thing.type && (color.empty() || color == thing.color);
  }
};

// One part of a mission.
struct BabyAiErrand {
  enum Kind { kGoTo, kPickUp, kOpen, kPutNext } kind = kGoTo;
  BabyAiWanted what;
  BabyAiWanted beside = {};  // of kPutNext
};

// The parts of a mission in the order in which they are to be done; empty if it is not understood.
std::vector<BabyAiErrand> ReadBabyAiMission(std::string_view mission);

struct BabyAiSpot {
  int x = 0;
  int y = 0;
  bool operator==(const BabyAiSpot&) const = default;
};

// Where an agent stands and which way it faces: 0 east, 1 south, 2 west, 3 north.
struct BabyAiPose {
  BabyAiSpot spot;
  int facing = 3;

  BabyAiSpot Front() const;
  // The spot `ahead` cells in front and `right` cells to the right.
  BabyAiSpot Relative(int ahead, int right) const;
  bool operator==(const BabyAiPose&) const = default;
};

class BabyAiMap {
 public:
  static constexpr int kReach = 14;  // the map's coordinates go from -kReach to kReach
  static constexpr int kSide = 2 * kReach + 1;

  // The room at the first observation. Texts must outlive the map.
  explicit BabyAiMap(std::string_view first_observation);

  // One turn. `action` is one of the six of BabyAI-Text; the reply to any other shows nothing.
  void Apply(std::string_view action, std::string_view reply);

  const BabyAiPose& pose() const { return pose_; }
  const std::optional<BabyAiThing>& carried() const { return carried_; }
  // The number of picked up things since the beginning that are of this kind.
  bool HasPickedUp(const BabyAiWanted& wanted) const;

  // The thing at a spot; null if there is none or it has not been seen.
  const BabyAiThing* ThingAt(BabyAiSpot spot) const;
  bool IsSeen(BabyAiSpot spot) const;
  // Within what may be the room, including its walls.
  bool MayBeRoom(BabyAiSpot spot) const;
  // The agent may walk there, as far as it knows.
  bool IsFree(BabyAiSpot spot) const;

 private:
  struct Cell {
    bool seen = false;
    std::optional<BabyAiThing> thing;
  };
  // The range of a coordinate in the room, with its walls.
  struct Range {
    int least = -kReach;
    int most = kReach;
    void Narrow(int at_least, int at_most);
  };

  static size_t IndexOf(BabyAiSpot spot);
  void Observe(std::string_view text);
  void SeeWall(BabyAiSpot spot, int facing);
  bool IsInside(BabyAiSpot spot) const;

  std::vector<Cell> cells_;
  BabyAiPose pose_;
  Range x_;
  Range y_;
  std::optional<BabyAiThing> carried_;
  std::vector<BabyAiThing> picked_up_;
};

// The map and the mission that a conversation shows.
struct BabyAiScene {
  BabyAiMap map;
  std::vector<BabyAiErrand> errands;
  int wasted_turns = 0;  // the number of last turns in a row that the server refused
};

// nullopt if no message is the first observation of a task of BabyAI-Text. AgentGym's own server
// has other actions and observations.
std::optional<BabyAiScene> ReadBabyAi(std::span<const Message> conversation);

}  // namespace agentr
