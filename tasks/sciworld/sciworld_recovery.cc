#include "tasks/sciworld/sciworld_recovery.h"

#include <array>
#include <utility>

namespace agentr {
namespace {

// What follows `begin` in `text`; empty if it does not begin so.
std::string_view After(std::string_view text, std::string_view begin) {
  return text.starts_with(begin) ? text.substr(begin.size()) : std::string_view();
}

// The two things of "move jug to sink": the words before and after `between`.
std::pair<std::string, std::string> PartsOf(std::string_view text, std::string_view between) {
  const size_t at = text.find(between);
  if (at == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + between.size()))};
}

}  // namespace

std::vector<std::string> UndoSciWorld(std::string_view action) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOpposites = {
      {{"open ", "close "},
       {"close ", "open "},
       {"activate ", "deactivate "},
       {"deactivate ", "activate "},
       {"turn on ", "turn off "},
       {"turn off ", "turn on "},
       {"pick up ", "drop "},
       {"drop ", "pick up "}}};
  for (const auto& [done, undone] : kOpposites) {
    const std::string_view what = After(action, done);
    if (!what.empty()) return {std::string(undone) + std::string(what)};
  }
  if (const auto what = After(action, "put down "); !what.empty()) {
    return {"pick up " + std::string(what)};
  }
  if (const auto what = After(action, "connect "); !what.empty()) {
    const auto [one, other] = PartsOf(what, " to ");
    return {"disconnect " + one, "disconnect " + other};
  }
  if (const auto what = After(action, "move "); !what.empty()) {
    const auto [thing, place] = PartsOf(what, " to ");
    if (place == "inventory") return {"drop " + thing};
    return {"pick up " + thing, "move " + thing + " to inventory"};
  }
  return {};
}

std::vector<std::string> PrepareSciWorld(std::string_view action) {
  if (const auto room = After(action, "go to "); !room.empty()) {
    return {"open door to " + std::string(room)};
  }
  const auto moved = After(action, "move ");
  const auto poured = After(action, "pour ");
  if (!moved.empty() || !poured.empty()) {
    const auto [thing, place] = moved.empty() ? PartsOf(poured, " into ") : PartsOf(moved, " to ");
    std::vector<std::string> before = {"pick up " + thing};
    if (!place.empty() && place != "inventory") before.push_back("open " + place);
    return before;
  }
  if (const auto tool = After(action, "use "); !tool.empty()) {
    return {"pick up " + PartsOf(tool, " on ").first};
  }
  return {};
}

}  // namespace agentr
