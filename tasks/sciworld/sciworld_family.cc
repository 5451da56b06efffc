#include "tasks/sciworld/sciworld_family.h"

#include <algorithm>
#include <array>

#include "common/text.h"
#include "tasks/sciworld/sciworld_conversation.h"
#include "tasks/sciworld/sciworld_recovery.h"
#include "tasks/sciworld/sciworld_state.h"
#include "tasks/sciworld/sciworld_tasks.h"

namespace agentr {
namespace {

// The beginnings of all actions except numbers.
constexpr std::array<std::string_view, 28> kBeginnings = {
    "activate ", "close ",   "connect ", "deactivate ", "disconnect ", "drop ",     "dunk ",
    "eat ",      "examine ", "flush ",   "focus ",      "go ",         "inventory", "look ",
    "mix ",      "move ",    "open ",    "pick up ",    "pour ",       "put ",      "read ",
    "reset ",    "task",     "turn ",    "use ",        "wait",        "describe ", "enter ",
};

constexpr size_t kMostUndone = 4;    // actions that take earlier ones back
constexpr size_t kMostPrepared = 3;  // next actions of the good path that are prepared

bool HasKnownForm(const std::string& key) {
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view begin) { return key.starts_with(begin); });
}

}  // namespace

std::string SciWorldKey(std::string_view action) { return AsciiLower(Trim(action)); }

bool OnlyTells(std::string_view sciworld_action) {
  const std::string key = SciWorldKey(sciworld_action);
  return key == "inventory" || key == "look around" || key == "task";
}

bool NotUnderstood(std::string_view sciworld_reply) {
  return sciworld_reply.starts_with("No known action matches that input.");
}

bool IsNotPossible(std::string_view sciworld_reply) {
  constexpr std::array kRefusals = {
      std::string_view("Unknown action."), std::string_view("It's not clear how"),
      std::string_view("You can't "),      std::string_view("That thing doesn't appear"),
      std::string_view("I'm not sure "),   std::string_view("That container is empty"),
      std::string_view("That can't be "),  std::string_view("Something can't be "),
      std::string_view("That object "),    std::string_view("That is already ")};
  // "The door is already open.", "The oven is not moveable.", "The jug isn't open, so you can't …",
  // "The cup can't be poured out, because it's not open."
  constexpr std::array<std::string_view, 5> kDenials = {" is already ", " is not ", " isn't ",
                                                        " can't be ", " does not contain any "};
  const auto begins = [&](std::string_view text) { return sciworld_reply.starts_with(text); };
  const auto holds = [&](std::string_view text) {
    return sciworld_reply.find(text) != std::string_view::npos;
  };
  if (std::ranges::any_of(kRefusals, begins)) return true;
  const bool one_sentence = sciworld_reply.find('.') + 1 == sciworld_reply.size();
  return begins("The ") && one_sentence && std::ranges::any_of(kDenials, holds);
}

bool IsAmbiguous(std::string_view sciworld_reply) {
  return sciworld_reply.starts_with("Ambiguous request");
}

bool LeavesQuestionOpen(std::string_view sciworld_action) {
  return SciWorldKey(sciworld_action) == "task";
}

bool SciWorldFamily::LeavesStateUnchanged(std::string_view before, std::string_view action,
                                          std::string_view after) const {
  if (IsAmbiguous(before) || IsAmbiguous(after)) return false;
  return NotUnderstood(after) || OnlyTells(action);
}

bool SciWorldFamily::IsRefusal(std::string_view /*before*/, std::string_view /*action*/,
                               std::string_view after) const {
  return NotUnderstood(after) || IsNotPossible(after);
}

std::vector<bool> SciWorldFamily::LikelyUnchanged(std::span<const Message> history,
                                                  std::span<const std::string> actions) const {
  const auto view = ReadSciWorld(history);
  const bool waits =
      view ? view->ambiguous : !history.empty() && IsAmbiguous(history.back().content);
  std::vector<bool> likely;
  for (const std::string& action : actions) {
    likely.push_back(!waits && (OnlyTells(action) || !HasKnownForm(SciWorldKey(action))));
  }
  return likely;
}

int SciWorldFamily::SearchDepth(int task_id) const {
  constexpr int kLeast = 20;
  constexpr int kMostMoves = 100;  // the server ends an episode after that many
  int solution = 0;
  for (const SciWorldTaskType& type : SciWorldTaskTypes()) {
    if (task_id >= type.first) solution = type.solution;
  }
  return std::clamp(solution + (solution + 3) / 4, kLeast, kMostMoves);
}

bool SciWorldFamily::MayInform(std::string_view action) const { return OnlyTells(action); }

std::string SciWorldFamily::StateKey(std::span<const Message> history) const {
  return SciWorldStateKey(history);
}

RevisionHints::Readings SciWorldFamily::WithoutReadings(std::string_view observation) const {
  constexpr std::string_view kBefore = " measures a temperature of ";
  constexpr std::string_view kAfter = " degrees celsius";
  Readings readings{std::string(observation), {}};
  const size_t at = observation.find(kBefore);
  if (at == std::string_view::npos) return readings;
  const size_t begin = at + kBefore.size();
  const size_t end = observation.find(kAfter, begin);
  if (end == std::string_view::npos) return readings;
  readings.values.emplace_back(observation.substr(begin, end - begin));
  readings.text.replace(begin, end - begin, "#");
  return readings;
}

std::string_view SciWorldFamily::MistakeName(std::span<const Message> /*history*/,
                                             std::string_view action,
                                             std::string_view after) const {
  if (NotUnderstood(after)) return "not_understood";
  if (IsNotPossible(after)) return "not_possible";
  if (IsAmbiguous(after)) return "ambiguous";
  return SciWorldKey(action).starts_with("focus ") ? "wrong_focus" : "dead_end";
}

std::vector<std::string> SciWorldFamily::Recoveries(std::span<const Message> history,
                                                    std::span<const std::string> wanted) const {
  const std::optional<SciWorldView> view = ReadSciWorld(history);
  if (!view) return {};
  if (view->ambiguous) return {"0", "1"};
  std::vector<std::string> actions;
  // The most recent actions first, of which the last is most often the mistake.
  for (size_t i = view->actions.size(); i-- > 0 && actions.size() < kMostUndone;) {
    for (std::string& action : UndoSciWorld(view->actions[i])) actions.push_back(std::move(action));
  }
  for (const std::string& door : view->Here().doors) {
    actions.push_back("go to " + door);
    actions.push_back("open door to " + door);
  }
  for (const auto& [room, seen] : view->rooms) {
    if (room != view->room) actions.push_back("go to " + room);
  }
  for (const std::string& action : wanted.first(std::min(wanted.size(), kMostPrepared))) {
    for (std::string& before : PrepareSciWorld(action)) actions.push_back(std::move(before));
  }
  return actions;
}

}  // namespace agentr
