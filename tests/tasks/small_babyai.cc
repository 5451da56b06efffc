#include "tests/tasks/small_babyai.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace agentr {
namespace {

constexpr int kWidth = 9;
constexpr int kHeight = 5;
constexpr int kWall = 4;  // between the rooms, with the door in its middle
constexpr int kDoorRow = 2;
constexpr size_t kDoor = 2;

}  // namespace

SmallBabyAi::SmallBabyAi(int task_id) : kind_(task_id % 4) {
  RandomStream random = RandomStream(7).Split(static_cast<uint64_t>(task_id));
  things_.push_back({"red ball", FreePlace(random, 1, kWall - 1)});
  things_.push_back({"green box", FreePlace(random, 1, kWall - 1)});
  things_.push_back({"blue", {kWall, kDoorRow}, random.Chance(0.5) ? "locked" : "closed"});
  things_.push_back({"blue key", FreePlace(random, 1, kWall - 1)});
  things_.push_back({"red ball", FreePlace(random, kWall + 1, kWidth - 2)});
  things_.push_back({"grey key", FreePlace(random, kWall + 1, kWidth - 2)});
  place_ = FreePlace(random, 1, kWall - 1);
  facing_ = static_cast<int>(random.Below(4));
}

SmallBabyAi::Place SmallBabyAi::FreePlace(RandomStream& random, int from_x, int to_x) const {
  Place place;
  do {
    place.x = from_x + static_cast<int>(random.Below(static_cast<uint64_t>(to_x - from_x + 1)));
    place.y = 1 + static_cast<int>(random.Below(kHeight - 2));
  } while (!IsFree(place));
  return place;
}

std::string SmallBabyAi::Goal() const {
  switch (kind_) {
    case 0:
      return "go to the red ball";
    case 1:
      return "pick up the red ball";
    case 2:
      return "open the blue door";
    default:
      return "put the red ball next to the green box";
  }
}

SmallBabyAi::Place SmallBabyAi::Ahead(Place from, int facing) const {
  constexpr int kX[] = {1, 0, -1, 0};
  constexpr int kY[] = {0, 1, 0, -1};
  return {from.x + kX[facing], from.y + kY[facing]};
}

const SmallBabyAi::Thing* SmallBabyAi::At(Place place) const {
  const auto thing =
      std::ranges::find_if(things_, [&](const Thing& t) { return !t.carried && t.place == place; });
  return thing == things_.end() ? nullptr : &*thing;
}

bool SmallBabyAi::IsFree(Place place) const {
  const Thing* thing = At(place);
  if (thing != nullptr) return thing->door == "open";
  return place.x > 0 && place.x < kWidth - 1 && place.y > 0 && place.y < kHeight - 1 &&
         place.x != kWall;
}

int SmallBabyAi::Carried() const {
  const auto thing = std::ranges::find(things_, true, &Thing::carried);
  return thing == things_.end() ? -1 : static_cast<int>(thing - things_.begin());
}

std::pair<int, int> SmallBabyAi::Relative(Place place) const {
  const Place ahead = Ahead({}, facing_);
  const Place right = Ahead({}, (facing_ + 1) % 4);
  const int x = place.x - place_.x, y = place.y - place_.y;
  return {x * ahead.x + y * ahead.y, x * right.x + y * right.y};
}

std::vector<std::pair<std::string, const SmallBabyAi::Thing*>> SmallBabyAi::Seen() const {
  const auto room = [&](Place place) { return place.x == kWall ? 0 : place.x < kWall ? -1 : 1; };
  std::vector<const Thing*> near;
  for (const Thing& thing : things_) {
    const bool here = room(thing.place) * room(place_) >= 0;
    if (here && !thing.carried && Relative(thing.place).first >= 0 && thing.place != place_) {
      near.push_back(&thing);
    }
  }
  std::ranges::stable_sort(near, {}, [&](const Thing* thing) {
    return std::abs(thing->place.x - place_.x) + std::abs(thing->place.y - place_.y);
  });
  std::map<std::string, int> count;
  std::vector<std::pair<std::string, const Thing*>> seen;
  for (const Thing* thing : near) {
    const std::string name =
        thing->door.empty() ? thing->name : fmt::format("{} {} door", thing->name, thing->door);
    seen.emplace_back(fmt::format("{} {}", name, ++count[name]), thing);
  }
  return seen;
}

bool SmallBabyAi::FindPath(Place to, bool onto, std::vector<Move>& path) const {
  using Stand = std::pair<Place, int>;
  std::map<Stand, std::pair<Stand, Move>> from;
  const Stand start = {place_, facing_};
  std::vector<Stand> queue = {start};
  for (size_t i = 0; i < queue.size(); ++i) {
    Stand at = queue[i];
    if (onto ? at.first == to : Ahead(at.first, at.second) == to) {
      for (; at != start; at = from[at].first) path.insert(path.begin(), from[at].second);
      return true;
    }
    for (const Move move : {kForward, kLeft, kRight}) {
      Stand next = at;
      if (move == kForward) next.first = Ahead(at.first, at.second);
      if (move == kLeft) next.second = (at.second + 3) % 4;
      if (move == kRight) next.second = (at.second + 1) % 4;
      if (next == start || from.contains(next) || !IsFree(next.first)) continue;
      from[next] = {at, move};
      queue.push_back(next);
    }
  }
  return false;
}

std::vector<SmallBabyAi::Choice> SmallBabyAi::Choices() const {
  std::vector<Choice> choices = {{"turn left", {kLeft}}, {"turn right", {kRight}}};
  const Place ahead = Ahead(place_, facing_);
  // As on the real server, something may lie there all the same: then nothing moves.
  if (ahead.x > 0 && ahead.x < kWidth - 1 && ahead.y > 0 && ahead.y < kHeight - 1) {
    choices.push_back({"move forward", {kForward}});
  }
  if (Carried() >= 0 && IsFree(ahead) && At(ahead) == nullptr) choices.push_back({"drop", {kDrop}});
  const int carried = Carried();
  for (const auto& [name, thing] : Seen()) {
    std::vector<Move> path;
    if (!FindPath(thing->place, thing->door == "open", path)) continue;
    const auto add = [&](const std::string& action, std::vector<Move> more) {
      more.insert(more.begin(), path.begin(), path.end());
      choices.push_back({action + name, more});
    };
    if (thing->door == "open") add("go through ", {});
    const bool has_key =
        carried >= 0 && things_[static_cast<size_t>(carried)].name == thing->name + " key";
    if (thing->door == "closed" || (thing->door == "locked" && has_key)) {
      add("toggle and go through ", {kToggle, kForward});
      if (path.empty()) choices.push_back({"toggle", {kToggle}});
    }
    if (thing->door.empty() && carried < 0) add("pickup ", {kPickUp});
    if (thing->door != "open") add("go to ", {});
  }
  choices.push_back({"check available actions", {}});
  return choices;
}

std::string SmallBabyAi::WhyNot(const std::string& action) const {
  if (action.empty()) return "No change in state.";
  if (action == "move forward")
    return "There is a barrier in front of you, you can't move forward.";
  if (action == "drop") {
    return Carried() < 0 ? "You cannot drop the object, as you are not carrying anything."
                         : "You cannot drop the object, as there is already an object in front of "
                           "you.";
  }
  for (const auto& [name, thing] : Seen()) {
    const bool locked = thing->door == "locked" && action == "toggle and go through " + name;
    if (locked) return fmt::format("You cannot {}, as you are not carrying a key.", action);
    if (action == "go to " + name || action == "pickup " + name) {
      return fmt::format("You cannot {}, as there is no path leading to it.", action);
    }
  }
  return "The action is not recognized. Please check valid actions.";
}

bool SmallBabyAi::TakeInFront() {
  const Thing* thing = At(Ahead(place_, facing_));
  if (Carried() >= 0 || thing == nullptr || !thing->door.empty()) return false;
  things_[static_cast<size_t>(thing - things_.data())].carried = true;
  return true;
}

bool SmallBabyAi::Toggle() {
  Thing& door = things_[kDoor];
  if (Ahead(place_, facing_) != door.place) return false;
  const int carried = Carried();
  if (door.door == "locked" &&
      (carried < 0 || things_[static_cast<size_t>(carried)].name != door.name + " key")) {
    return false;
  }
  door.door = door.door == "open" ? "closed" : "open";
  return true;
}

bool SmallBabyAi::Take(Move move) {
  ++moves_;
  const Place ahead = Ahead(place_, facing_);
  switch (move) {
    case kLeft:
      facing_ = (facing_ + 3) % 4;
      return true;
    case kRight:
      facing_ = (facing_ + 1) % 4;
      return true;
    case kForward:
      if (!IsFree(ahead)) return false;
      place_ = ahead;
      return true;
    case kPickUp:
      return TakeInFront();
    case kDrop: {
      if (Carried() < 0 || !IsFree(ahead) || At(ahead) != nullptr) return false;
      Thing& thing = things_[static_cast<size_t>(Carried())];
      thing.carried = false;
      thing.place = ahead;
      return true;
    }
    case kToggle:
      return Toggle();
  }
  return false;
}

bool SmallBabyAi::IsReached() const {
  const Thing& ball = things_[0];
  const Thing* ahead = At(Ahead(place_, facing_));
  switch (kind_) {
    case 0:
      return ahead != nullptr && ahead->name == ball.name;
    case 1:
      return ball.carried;
    case 2:
      return things_[kDoor].door == "open";
    default:
      return !ball.carried && !things_[1].carried &&
             std::abs(ball.place.x - things_[1].place.x) +
                     std::abs(ball.place.y - things_[1].place.y) ==
                 1 &&
             moves_ > 0;
  }
}

std::string SmallBabyAi::View() const {
  std::string text = "In front of you in this room, you can see several objects: ";
  for (const auto& [name, thing] : Seen()) {
    const auto [ahead, right] = Relative(thing->place);
    text += right == 0
                ? fmt::format("There is a {} right in front of you {} steps away. ", name, ahead)
                : fmt::format("There is a {} {} steps in front of you and {} steps to your {}. ",
                              name, ahead, std::abs(right), right > 0 ? "right" : "left");
  }
  const int carried = Carried();
  return text + (carried < 0 ? "You are not carrying anything."
                             : fmt::format("You are carrying a {}.",
                                           things_[static_cast<size_t>(carried)].name));
}

std::string SmallBabyAi::WithChoices(const std::string& text) const {
  std::vector<std::string> quoted;
  for (const Choice& choice : Choices()) quoted.push_back('"' + choice.action + '"');
  return fmt::format("{}\nAvailable actions: [{}]", text, fmt::join(quoted, ", "));
}

std::string SmallBabyAi::Start() const {
  return WithChoices(fmt::format("Your goal: {}\n{}", Goal(), View()));
}

StepResult SmallBabyAi::Step(std::string_view said) {
  const std::string action(said);
  const std::vector<Choice> choices = Choices();
  if (action.find("check") != std::string::npos) {
    std::string text = "You can take the following actions: ";
    for (const Choice& choice : choices) text += choice.action + ", ";
    return {WithChoices(text), reward_, done_};
  }
  const auto choice = std::ranges::find(choices, action, &Choice::action);
  if (choice == choices.end()) return {WithChoices(WhyNot(action)), reward_, done_};
  if (choice->moves.empty()) return {WithChoices("No change in state."), reward_, done_};
  for (const Move move : choice->moves) {
    if (!Take(move)) break;
  }
  reward_ = IsReached() ? 1 - 0.9 * std::min(moves_, kMostMoves) / kMostMoves : 0;
  done_ = reward_ > 0.5;
  return {WithChoices(View() + (reward_ > 0 ? "\n The task is completed." : "")), reward_, done_};
}

}  // namespace agentr
