#include "tests/tasks/small_sciworld.h"

#include <fmt/format.h>

#include "tasks/sciworld/sciworld_family.h"

namespace agentr {
namespace {

constexpr int kMostMoves = 100;
const std::string kRefused = "No known action matches that input.";
const std::vector<std::string> kRooms = {"greenhouse", "hallway", "kitchen"};

// What stands behind `start` in `text`; "" if it begins otherwise.
std::string Behind(const std::string& text, std::string_view start) {
  return text.starts_with(start) ? text.substr(start.size()) : "";
}

}  // namespace

SmallSciWorld::SmallSciWorld(int task_id)
    : task_id_(task_id),
      room_(task_id % 3 == 2 ? "hallway" : "kitchen"),
      place_of_({{"picture", "hallway"},
                 {"red apple", "kitchen"},
                 {"green apple", "kitchen"},
                 {"fern", "greenhouse"},
                 {"cactus", "greenhouse"}}),
      open_(task_id % 3 == 1 ? std::set<std::string>{"greenhouse"} : std::set<std::string>{}) {}

std::string SmallSciWorld::TaskDescription() const {
  return fmt::format(
      "Task description:\nYour task is to find a {}. First, focus on the thing. Then, move it to "
      "the "
      "red box in the kitchen.",
      task_id_ < 3 ? "fern" : "cactus");
}

std::string SmallSciWorld::Look() const {
  std::string text = fmt::format(
      "This room is called the {}. In it, you see: \n\tthe agent\n\ta "
      "substance called air",
      room_);
  for (const auto& [thing, place] : place_of_) {
    if (place == room_) text += "\n\ta " + thing;
  }
  if (room_ == "kitchen") text += "\n\ta red box (containing nothing)";
  text += "\nYou also see:";
  for (const std::string& room : kRooms) text += Door(room);
  return text;
}

std::string SmallSciWorld::Door(const std::string& room) const {
  if (room == room_ || (room != "hallway" && room_ != "hallway")) return "";
  const std::string& far = room == "hallway" ? room_ : room;
  const bool open = far == "kitchen" || open_.contains(far);
  return fmt::format("\n\tA door to the {} (that is {})", room, open ? "open" : "closed");
}

StepResult SmallSciWorld::Step(std::string_view action) {
  const std::string key = SciWorldKey(action);
  std::string reply = choices_.empty() ? Act(key) : Answer(key);
  if (reply != kRefused && !OnlyTells(key)) ++moves_;
  const double score = Score();
  return {std::move(reply), score, score < 0 || score == 1 || moves_ > kMostMoves};
}

// The number of a choice; anything else gives the request up.
std::string SmallSciWorld::Answer(const std::string& action) {
  const std::vector<std::string> choices = std::move(choices_);
  choices_.clear();
  for (size_t i = 0; i < choices.size(); ++i) {
    if (action == std::to_string(i)) return PickUp(choices[i]);
  }
  return Act(action);
}

std::string SmallSciWorld::Act(const std::string& action) {
  if (action == "look around") return Look();
  if (action == "inventory") return Inventory();
  if (action == "task") return TaskDescription();
  if (action == "wait" || action == "wait1") {
    return fmt::format("You decide to wait for {} iterations.", action == "wait" ? 10 : 1);
  }
  if (const std::string room = Behind(action, "go to "); !room.empty()) return GoTo(room);
  if (const std::string room = Behind(action, "open door to "); !room.empty())
    return OpenDoor(room);
  if (const std::string thing = Behind(action, "pick up "); !thing.empty()) return PickUp(thing);
  if (const std::string thing = Behind(action, "focus on "); !thing.empty()) return Focus(thing);
  const size_t to = action.find(" to ");
  if (action.starts_with("move ") && to != std::string::npos) {
    return Move(action.substr(5, to - 5), action.substr(to + 4));
  }
  return kRefused;
}

std::string SmallSciWorld::GoTo(const std::string& room) {
  const std::string door = Door(room);
  if (door.empty()) return kRefused;
  if (door.ends_with("(that is closed)")) return "The door is not open.";
  room_ = room;
  if (room == "greenhouse") visited_greenhouse_ = true;
  return fmt::format("You move to the {}.", room);
}

std::string SmallSciWorld::OpenDoor(const std::string& room) {
  const std::string door = Door(room);
  if (door.empty()) return kRefused;
  if (door.ends_with("(that is open)")) return "The door is already open.";
  open_.insert(room);
  return "The door is now open.";
}

std::string SmallSciWorld::PickUp(const std::string& thing) {
  if (thing == "apple" && room_ == "kitchen" && IsHere("red apple") && IsHere("green apple")) {
    choices_ = {"green apple", "red apple"};
    return "Ambiguous request: Please enter the number for the action you intended (or blank to "
           "cancel):\n0:\tpick up green apple (in kitchen)\n1:\tpick up red apple (in kitchen)\n";
  }
  if (!IsHere(thing)) return kRefused;
  place_of_[thing] = "inventory";
  return fmt::format("You move the {} to the inventory.", thing);
}

std::string SmallSciWorld::Move(const std::string& thing, const std::string& to) {
  if (!IsHere(thing) || to != "red box" || room_ != "kitchen") return kRefused;
  place_of_[thing] = to;
  return fmt::format("You move the {} to the {}.", thing, to);
}

std::string SmallSciWorld::Focus(const std::string& thing) {
  if (!IsHere(thing)) return kRefused;
  focus_ = thing;
  failed_ = failed_ || thing != (task_id_ < 3 ? "fern" : "cactus");
  return fmt::format("You focus on the {}.", thing);
}

std::string SmallSciWorld::Inventory() const {
  std::string text = "In your inventory, you see:\n";
  for (const auto& [thing, place] : place_of_) {
    if (place == "inventory") text += "\ta " + thing + "\n";
  }
  return text;
}

bool SmallSciWorld::IsHere(const std::string& thing) const {
  const auto found = place_of_.find(thing);
  return found != place_of_.end() && (found->second == room_ || found->second == "inventory");
}

double SmallSciWorld::Score() const {
  if (failed_) return -1;
  if (focus_.empty()) return visited_greenhouse_ ? 0.25 : 0;
  if (place_of_.at(focus_) == "red box") return 1;
  return place_of_.at(focus_) == "inventory" ? 0.75 : 0.5;
}

std::vector<std::string> SmallSciWorld::Gold() const {
  const std::string plant = task_id_ < 3 ? "fern" : "cactus";
  std::vector<std::string> gold = {"look around"};
  if (task_id_ % 3 != 2) gold.insert(gold.end(), {"go to hallway", "look around"});
  if (task_id_ % 3 != 1) gold.push_back("open door to greenhouse");
  gold.insert(gold.end(), {"go to greenhouse", "focus on " + plant, "pick up " + plant,
                           "go to hallway", "go to kitchen", "move " + plant + " to red box"});
  return gold;
}

std::vector<std::string> SmallSciWorld::ValidActions() const {
  std::vector<std::string> valid = {"inventory", "look around", "task", "wait", "wait1"};
  for (const std::string& room : kRooms) {
    if (Door(room).empty()) continue;
    valid.insert(valid.end(), {"go to " + room, "close " + room + " door", "focus on " + room});
  }
  for (const auto& [thing, place] : place_of_) {
    if (!IsHere(thing)) continue;
    valid.insert(valid.end(), {"focus on " + thing, "pick up " + thing});
    if (room_ == "kitchen") valid.push_back("move " + thing + " to red box");
  }
  return valid;
}

}  // namespace agentr
