// BabyAI with two rooms and a door between them, inside the test process: observations, actions and
// replies in the form of AgentGym's server, the grid our own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/environment.h"
#include "common/random.h"

namespace agentr {

class SmallBabyAi {
 public:
  static constexpr int kMostMoves = 64;  // the reward falls to 0.1 with so many

  // Task `task`: its kind of goal is task % 4 (go to, pick up, open, put next to), its grid is
  // drawn from the number.
  explicit SmallBabyAi(int task_id);

  std::string Goal() const;   // "go to the red ball"
  std::string Start() const;  // the first observation
  StepResult Step(std::string_view action);

  bool operator==(const SmallBabyAi&) const = default;

 private:
  enum Move { kLeft, kRight, kForward, kPickUp, kDrop, kToggle };
  struct Place {
    int x = 0;
    int y = 0;
    bool operator==(const Place&) const = default;
    auto operator<=>(const Place&) const = default;
  };
  struct Thing {
    std::string name;  // "red ball"; of a door its colour
    Place place;
    std::string door = "";  // "open" | "closed" | "locked"; "" for what is no door
    bool carried = false;
    bool operator==(const Thing&) const = default;
  };
  struct Choice {
    std::string action;
    std::vector<Move> moves;
  };

  Place Ahead(Place from, int facing) const;
  Place FreePlace(RandomStream& random, int from_x, int to_x) const;
  const Thing* At(Place place) const;
  bool IsFree(Place place) const;
  int Carried() const;                                             // index, -1: nothing
  std::pair<int, int> Relative(Place place) const;                 // ahead, to the right
  std::vector<std::pair<std::string, const Thing*>> Seen() const;  // numbered names, nearest first
  // How to stand before `to` and face it, or, with `onto`, to stand on it.
  bool FindPath(Place to, bool onto, std::vector<Move>& path) const;
  std::vector<Choice> Choices() const;
  std::string WhyNot(const std::string& action) const;
  bool Take(Move move);  // false if nothing changed
  bool TakeInFront();
  bool Toggle();
  bool IsReached() const;
  std::string View() const;
  std::string WithChoices(const std::string& text) const;

  int kind_;
  std::vector<Thing> things_;  // [0] and [1] are what the goal is about, [2] is the door
  Place place_;
  int facing_ = 0;  // 0: x grows, 1: y grows, 2: x falls, 3: y falls
  int moves_ = 0;
  double reward_ = 0;
  bool done_ = false;
};

}  // namespace agentr
