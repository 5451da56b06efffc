// The state of a BabyAI world and what each action does to it, without its mission.
#pragma once

#include <array>
#include <bitset>
#include <span>
#include <string_view>

#include "games/babyai/babyai_grid.h"

namespace agentr {

// What an agent can do, with the numbers of the original. "done" does nothing but costs a step.
enum class BabyAiAction { kLeft, kRight, kForward, kPickUp, kDrop, kToggle, kDone };

// The texts of the actions kLeft … kToggle: "turn left", "turn right", "go forward", "pick up",
// "drop", "toggle". kDone is not among them.
std::span<const std::string_view> BabyAiActionTexts();

// A set of objects, by index.
using ObjectSet = std::bitset<16>;

// A door, key, ball or box. What is carried or has vanished is at kNowhere.
struct GridObject {
  static constexpr GridPlace kNowhere = {-1, -1};

  GridCell look;  // a door's state is in the grid only
  GridPlace place = kNowhere;

  bool operator==(const GridObject&) const = default;
};

class BabyAiWorld {
 public:
  static constexpr int kMostObjects = 11;
  static constexpr int kNone = -1;

  // Empty rooms (one or two), with the agent where the original leaves it before it is placed: in
  // the middle of the last room, facing right.
  explicit BabyAiWorld(int rooms = 1);

  const BabyAiGrid& grid() const { return grid_; }
  int rooms() const { return grid_.width() > BabyAiGrid::kRoom ? 2 : 1; }
  std::span<const GridObject> objects() const {
    return std::span(objects_).first(static_cast<size_t>(object_count_));
  }
  const GridObject& object(int index) const { return objects_[static_cast<size_t>(index)]; }
  GridPlace agent() const { return agent_; }
  int direction() const { return direction_; }
  GridPlace front() const { return agent_ + kGridSteps[static_cast<size_t>(direction_)]; }
  int carried() const { return carried_; }  // index of an object, or kNone

  // The object in a cell, or kNone.
  int ObjectAt(GridPlace place) const;

  // Building a world: adds an object (at most kMostObjects), or moves the agent.
  void Add(GridPlace place, GridCell look);
  void PlaceAgent(GridPlace place, int direction) {
    agent_ = place;
    direction_ = direction;
  }

  void Act(BabyAiAction action);

  bool operator==(const BabyAiWorld&) const = default;

 private:
  void PickUp();
  void Drop();
  void Toggle();

  BabyAiGrid grid_;
  std::array<GridObject, kMostObjects> objects_;
  int object_count_ = 0;
  GridPlace agent_;
  int direction_ = 0;
  int carried_ = kNone;
};

}  // namespace agentr
