#include "tasks/sciworld/sciworld_room.h"

#include <algorithm>

#include "common/text.h"

namespace agentr {
namespace {

std::string Flat(std::string_view text) {
  std::string flat(text);
  std::ranges::replace_if(
      flat, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return flat;
}

// The text before the first of `ends`.
std::string_view Until(std::string_view text, std::string_view end) {
  return text.substr(0, text.find(end));
}

void DropStart(std::string_view& text, std::string_view start) {
  if (text.starts_with(start)) text.remove_prefix(start.size());
}

// "a substance called water" becomes "water"; "nothing" and things that are never acted on become
// "".
std::string ThingName(std::string_view text) {
  text = Trim(text.substr(0, text.find_first_of(".,()")), " ");
  for (const std::string_view start : {"a ", "an ", "the ", "some "}) {
    if (!text.starts_with(start)) continue;
    text.remove_prefix(start.size());
    break;
  }
  DropStart(text, "substance called ");
  if (text == "nothing" || text == "agent" || text == "air") return "";
  return std::string(text);
}

void AddThing(std::vector<std::string>& things, std::string_view text) {
  const std::string name = ThingName(text);
  if (!name.empty() && std::ranges::count(things, name) == 0) things.push_back(name);
}

// "a counter. On the counter is: a bowl (containing a red apple), a drawer." names three things.
void AddItem(std::vector<std::string>& things, std::string_view item) {
  AddThing(things, item);
  const size_t on = item.find(" is: ");
  const size_t in = item.find("(containing ");
  if (on == std::string_view::npos && in == std::string_view::npos) return;
  std::string_view inner = on < in ? item.substr(on + 5) : Until(item.substr(in + 12), ")");
  while (!inner.empty()) {
    const std::string_view part = Until(inner, ", ");
    inner.remove_prefix(std::min(part.size() + 2, inner.size()));
    AddThing(things, part);
    const size_t held = part.find("(containing ");
    if (held != std::string_view::npos) AddThing(things, part.substr(held + 12));
  }
}

// Each item has its own line that begins with a tab; on flattened text these are two or more
// spaces.
std::vector<std::string> ThingsIn(std::string_view list) {
  std::vector<std::string> things;
  while (!list.empty()) {
    const std::string_view item = Until(list, "  ");
    list.remove_prefix(std::min(item.size() + 2, list.size()));
    if (!item.empty()) AddItem(things, item);
  }
  return things;
}

std::vector<std::string> DoorsIn(std::string_view list) {
  constexpr std::string_view kDoor = "door to the ";
  std::vector<std::string> doors;
  for (size_t at = list.find(kDoor); at != std::string_view::npos; at = list.find(kDoor)) {
    list.remove_prefix(at + kDoor.size());
    doors.emplace_back(Until(list, " ("));
  }
  return doors;
}

}  // namespace

std::optional<SciWorldRoom> ReadSciWorldRoom(std::string_view text) {
  constexpr std::string_view kCalled = " is called the ";
  constexpr std::string_view kSee = "you see:";
  constexpr std::string_view kAlso = "You also see:";
  const std::string flat = Flat(text);
  std::string_view rest = flat;
  const size_t called = rest.find(kCalled);
  if (called == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(called + kCalled.size());
  SciWorldRoom room;
  room.name = Until(rest, ".");
  const size_t see = rest.find(kSee);
  if (see == std::string_view::npos) return room;
  rest.remove_prefix(see + kSee.size());
  const std::string_view list = Until(rest, kAlso);
  room.things = ThingsIn(list);
  room.doors = DoorsIn(rest.substr(list.size()));
  return room;
}

std::optional<std::vector<std::string>> ReadSciWorldInventory(std::string_view text) {
  constexpr std::string_view kStart = "In your inventory, you see:";
  if (!text.starts_with(kStart)) return std::nullopt;
  return ThingsIn(Flat(text.substr(kStart.size())));
}

std::string ReadSciWorldMove(std::string_view text) {
  constexpr std::string_view kStart = "You move to the ";
  if (!text.starts_with(kStart)) return "";
  return std::string(Until(text.substr(kStart.size()), "."));
}

}  // namespace agentr
