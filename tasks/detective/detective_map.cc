#include "tasks/detective/detective_map.h"

#include <algorithm>
#include <deque>

#include "games/detective/detective_texts.h"
#include "tasks/action_text.h"
#include "tasks/task_family.h"

namespace agentr {
namespace {

constexpr std::string_view kListBegin = "['";
constexpr std::string_view kListEnd = "']";
constexpr std::string_view kBetween = "', '";

// The words between `before` and `after`, wherever both stand in one sentence of `text`.
std::vector<std::string_view> WordsBetween(std::string_view text, std::string_view before,
                                           std::string_view after) {
  std::vector<std::string_view> words;
  for (size_t at = text.find(before); at != std::string_view::npos; at = text.find(before, at)) {
    at += before.size();
    const size_t end = text.find(' ', at);
    if (end == std::string_view::npos) break;
    if (text.substr(end).starts_with(after)) words.push_back(text.substr(at, end - at));
  }
  return words;
}

std::vector<std::string_view> ListItems(std::string_view list) {
  std::vector<std::string_view> items;
  if (!list.starts_with(kListBegin) || !list.ends_with(kListEnd)) return items;
  list = list.substr(kListBegin.size(), list.size() - kListBegin.size() - kListEnd.size());
  while (true) {
    const size_t at = list.find(kBetween);
    items.push_back(list.substr(0, at));
    if (at == std::string_view::npos) return items;
    list.remove_prefix(at + kBetween.size());
  }
}

bool Contains(const std::vector<std::string_view>& items, std::string_view item) {
  return std::ranges::find(items, item) != items.end();
}

bool IsDirection(std::string_view action) {
  return std::ranges::find(kDirections, action) != kDirections.end();
}

// The doors of a room that are safe and can be opened by now.
std::vector<std::string_view> DoorsOf(const DetectiveMap& map, const DetectiveView& view) {
  std::vector<std::string_view> doors;
  for (const std::string_view action : view.actions) {
    if (IsDirection(action) && !Contains(view.dangerous, action)) doors.push_back(action);
  }
  if (map.has_key) {
    for (const std::string_view direction : view.locked) {
      if (!Contains(doors, direction)) doors.push_back(direction);
    }
  }
  return doors;
}

bool HasUnknownDoor(const DetectiveMap& map, const DetectiveMap::Room& room) {
  return std::ranges::any_of(DoorsOf(map, room.view), [&](std::string_view direction) {
    return !room.behind.contains(direction);
  });
}

// The first step of the shortest known way to a room for which `is_goal` holds; empty if there is
// none, or if it is the present one.
template <typename IsGoal>
std::string_view FirstStepTo(const DetectiveMap& map, const IsGoal& is_goal) {
  std::map<std::string_view, std::string_view> first_steps = {{map.here, ""}};
  std::deque<std::string_view> queue = {map.here};
  while (!queue.empty()) {
    const std::string_view name = queue.front();
    queue.pop_front();
    const DetectiveMap::Room& room = map.rooms.at(name);
    if (is_goal(room)) return first_steps.at(name);
    for (const auto& [direction, next] : room.behind) {
      if (first_steps.contains(next)) continue;
      first_steps[next] = name == map.here ? direction : first_steps.at(name);
      queue.push_back(next);
    }
  }
  return "";
}

}  // namespace

std::optional<DetectiveView> ReadDetectiveView(std::string_view observation) {
  if (!observation.starts_with(kRoomBefore)) return std::nullopt;
  const size_t carries = observation.find(kCarryBefore);
  const size_t list = observation.rfind('[');
  if (carries == std::string_view::npos || list == std::string_view::npos) return std::nullopt;
  // The parts end with a line break, which conversations show as a blank.
  const size_t answer = observation.find('.', carries) + 2;
  if (answer == std::string_view::npos + 2 || answer >= list) return std::nullopt;
  const std::string_view look = observation.substr(0, carries);
  DetectiveView view;
  view.room = look.substr(kRoomBefore.size(), look.find('.') - kRoomBefore.size());
  view.answer = observation.substr(answer, list - 1 - answer);
  view.actions = ListItems(observation.substr(list));
  view.dangerous = WordsBetween(look, kDangerBefore, kDangerAfter);
  view.locked = WordsBetween(look, kLockedBefore, kLockedAfter);
  view.culprit_is_here = look.find(kCulpritHere) != std::string_view::npos;
  view.has_key =
      observation.substr(carries, answer - carries).find(kDetectiveKey) != std::string_view::npos;
  return view;
}

std::optional<DetectiveMap> ReadDetective(std::span<const Message> conversation) {
  DetectiveMap map;
  std::string action;
  for (const Message& message : conversation) {
    if (message.role == "assistant") {
      action = TextOfAction(message.content);
      continue;
    }
    const std::optional<DetectiveView> view = ReadDetectiveView(message.content);
    if (!view) continue;
    const auto direction = std::ranges::find(kDirections, action);
    if (!map.here.empty() && direction != kDirections.end() && view->room != map.here) {
      const int way = static_cast<int>(direction - kDirections.begin());
      map.rooms[map.here].behind[kDirections[way]] = view->room;
      map.rooms[view->room].behind[kDirections[Opposite(way)]] = map.here;
    }
    map.rooms[view->room].view = *view;
    map.here = view->room;
    map.has_key = view->has_key;
    const bool wasted = view->answer == kNothingHappens || view->answer == kNothingNew;
    map.wasted_turns = wasted ? map.wasted_turns + 1 : 0;
  }
  if (map.here.empty()) return std::nullopt;
  return map;
}

std::string NextDetectiveAction(const DetectiveMap& map) {
  const DetectiveView& view = map.view();
  for (const std::string_view action : view.actions) {
    if (!IsDirection(action)) return std::string(action);
  }
  const DetectiveMap::Room& room = map.rooms.at(map.here);
  for (const std::string_view direction : DoorsOf(map, view)) {
    if (!room.behind.contains(direction) && Contains(view.actions, direction)) {
      return std::string(direction);
    }
  }
  std::string_view step =
      FirstStepTo(map, [&](const DetectiveMap::Room& other) { return HasUnknownDoor(map, other); });
  if (step.empty()) {
    step = FirstStepTo(map,
                       [](const DetectiveMap::Room& other) { return other.view.culprit_is_here; });
  }
  if (!step.empty()) return std::string(step);
  return view.actions.empty() ? "look" : std::string(view.actions.front());
}

}  // namespace agentr
