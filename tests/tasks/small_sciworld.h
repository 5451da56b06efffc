// SciWorld with three rooms and a handful of things, inside the test process: texts, refusals,
// ambiguous requests, scores and disasters by the rules of the real game.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clients/environment.h"

namespace agentr {

class SmallSciWorld {
 public:
  // A plant is to be focused on and moved to the red box: in tasks 0 to 2 the fern, else the
  // cactus. Tasks 0 and 1 begin with the same text, but only in task 1 the door to the greenhouse
  // is open.
  static constexpr int kTasks = 6;
  explicit SmallSciWorld(int task_id);

  std::string TaskDescription() const;
  std::string Look() const;

  // What the server's /step tells: its score is 100 times the reward.
  StepResult Step(std::string_view action);

  std::vector<std::string> Gold() const;
  std::vector<std::string> ValidActions() const;

  bool operator==(const SmallSciWorld&) const = default;

 private:
  std::string Act(const std::string& action);
  std::string Answer(const std::string& action);
  std::string GoTo(const std::string& room);
  std::string OpenDoor(const std::string& room);
  std::string PickUp(const std::string& thing);
  std::string Move(const std::string& thing, const std::string& to);
  std::string Focus(const std::string& thing);
  std::string Inventory() const;
  std::string Door(const std::string& room) const;
  bool IsHere(const std::string& thing) const;
  double Score() const;

  int task_id_;
  std::string room_;
  std::map<std::string, std::string> place_of_;  // of each thing: a room, "inventory", "red box"
  std::set<std::string> open_;                   // rooms whose door to the hallway is open
  std::string focus_;
  bool failed_ = false;
  bool visited_greenhouse_ = false;
  std::vector<std::string> choices_;  // things that an ambiguous request may have meant
  int moves_ = 0;
};

}  // namespace agentr
