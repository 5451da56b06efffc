#include "games/detective/detective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "common/hash.h"
#include "common/text.h"
#include "games/detective/detective_texts.h"

namespace agentr {
namespace {

constexpr int kCluePoints = 10;
constexpr int kArrestPoints = 100;
constexpr int kKey = 0;  // its place in DetectiveCase::things

const CaseRoom& Here(const DetectiveState& state) { return state.house->rooms[state.room]; }

bool IsLocked(const DetectiveState& state, int door) {
  return door == state.house->hiding_place && !state.carries(kKey);
}

bool HasAllClues(const DetectiveState& state) {
  const uint32_t clues = state.carried >> 1;
  return std::popcount(clues) == state.house->clue_count();
}

bool MayArrest(const DetectiveState& state) {
  return state.room == state.house->hiding_place && HasAllClues(state);
}

std::string ArrestOf(const DetectiveState& state) {
  return fmt::format("arrest {}", state.house->culprit);
}

std::string Look(const DetectiveState& state) {
  const CaseRoom& here = Here(state);
  std::string text = fmt::format("{}{}. {}", kRoomBefore, here.room.name, here.room.text);
  for (const int thing : here.things) {
    if (!state.carries(thing)) text += fmt::format(" You see a {}.", state.house->things[thing]);
  }
  if (state.room == state.house->hiding_place) {
    text += fmt::format(" The {}{}", state.house->culprit, kCulpritHere);
  }
  std::vector<std::string_view> open;
  std::string others;
  for (int i = 0; i < 4; ++i) {
    const int door = here.doors[i];
    if (door == kNoDoor) continue;
    if (door == kDanger) {
      others += fmt::format(" {}{}{}", kDangerBefore, kDirections[i], kDangerAfter);
    } else if (IsLocked(state, door)) {
      others += fmt::format(" {}{}{}", kLockedBefore, kDirections[i], kLockedAfter);
    } else {
      open.push_back(kDirections[i]);
    }
  }
  return fmt::format("{} Open doors: {}.{}\n", text, fmt::join(open, ", "), others);
}

std::string Inventory(const DetectiveState& state) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < state.house->things.size(); ++i) {
    if (state.carries(static_cast<int>(i))) names.push_back(state.house->things[i]);
  }
  if (names.empty()) return "You carry nothing.\n";
  return fmt::format("You carry: {}.\n", fmt::join(names, ", "));
}

// Names of rooms, things and people contain no quotation marks.
std::string PythonList(const std::vector<std::string>& items) {
  if (items.empty()) return "[]";
  return fmt::format("['{}']", fmt::join(items, "', '"));
}

void Observe(DetectiveState& state, std::string_view answer) {
  const std::vector<std::string> actions =
      state.done() ? std::vector<std::string>{} : ValidActions(state);
  state.observation =
      fmt::format("{}{}{}\n{}", Look(state), Inventory(state), answer, PythonList(actions));
}

std::string GoThrough(DetectiveState& state, int direction) {
  const int door = Here(state).doors[direction];
  if (door == kDanger) {
    state.shot = true;
    return "A shot rings out. You are dead.";
  }
  state.room = door;
  return fmt::format("You go {}.", kDirections[direction]);
}

std::string Take(DetectiveState& state, std::string_view name) {
  const auto& things = state.house->things;
  state.carried |= 1U << (std::ranges::find(things, name) - things.begin());
  return "Taken.";
}

// Only for a valid action. Returns the answer.
std::string Do(DetectiveState& state, std::string_view action) {
  const auto direction = std::ranges::find(kDirections, action);
  if (direction != kDirections.end()) {
    return GoThrough(state, static_cast<int>(direction - kDirections.begin()));
  }
  if (action.starts_with("take ")) return Take(state, action.substr(5));
  state.won = true;
  return fmt::format("The {} confesses. The case is solved.", state.house->culprit);
}

int PointsOf(const DetectiveState& state) {
  const uint32_t clues = state.carried >> 1;
  return kCluePoints * std::popcount(clues) + (state.won ? kArrestPoints : 0);
}

}  // namespace

std::vector<std::string> ValidActions(const DetectiveState& state) {
  std::vector<std::string> actions;
  if (MayArrest(state)) actions.push_back(ArrestOf(state));
  const CaseRoom& here = Here(state);
  for (const int thing : here.things) {
    if (!state.carries(thing)) {
      actions.push_back(fmt::format("take {}", state.house->things[thing]));
    }
  }
  for (int i = 0; i < 4; ++i) {
    if (here.doors[i] == kNoDoor || IsLocked(state, here.doors[i])) continue;
    actions.emplace_back(kDirections[i]);
  }
  return actions;
}

std::optional<DetectiveState> Detective::Start(int64_t data_idx) const {
  if (data_idx < 0 || data_idx >= task_count()) return std::nullopt;
  DetectiveState state;
  state.house = std::make_shared<const DetectiveCase>(MakeCase(mansion_, data_idx));
  Observe(state, fmt::format("There was a murder in this house. {} clues prove who did it.",
                             state.house->clue_count()));
  return state;
}

void Detective::Step(DetectiveState& state, std::string_view action) const {
  const std::string wanted = AsciiLower(Trim(action));
  if (wanted == "look" || wanted == "inventory") {
    Observe(state, kNothingNew);
    return;
  }
  const std::vector<std::string> valid = ValidActions(state);
  if (std::ranges::find(valid, wanted) == valid.end()) {
    Observe(state, kNothingHappens);
    return;
  }
  const std::string answer = Do(state, wanted);
  ++state.steps;
  state.score = PointsOf(state);
  state.reward = state.score / (kCluePoints * state.house->clue_count() + kArrestPoints);
  Observe(state, answer);
}

std::string Detective::DataHash() const {
  std::string text;
  for (const MansionRoom& room : mansion_.rooms)
    text += fmt::format("{}|{}\n", room.name, room.text);
  text += fmt::format("{}\n{}\n", fmt::join(mansion_.clues, ","), fmt::join(mansion_.people, ","));
  return Sha256(text);
}

}  // namespace agentr
