#include "tasks/sciworld/sciworld_state.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "tasks/sciworld/sciworld_conversation.h"
#include "tasks/sciworld/sciworld_family.h"
#include "tasks/sciworld/sciworld_room.h"
#include "tasks/task_family.h"

namespace agentr {
namespace {

// Actions that set one property of a thing.
struct Setting {
  std::string_view begin;
  std::string_view property;
  std::string_view value;
};
constexpr std::array<Setting, 11> kSettings = {{{"open ", "open", "1"},
                                                {"close ", "open", "0"},
                                                {"activate ", "on", "1"},
                                                {"turn on ", "on", "1"},
                                                {"deactivate ", "on", "0"},
                                                {"turn off ", "on", "0"},
                                                {"pick up ", "place", "inventory"},
                                                {"take ", "place", "inventory"},
                                                {"drop ", "place", "#room"},
                                                {"put down ", "place", "#room"},
                                                {"disconnect ", "wire", ""}}};
// Actions that change nothing but the room.
constexpr std::array<std::string_view, 6> kPassing = {"look ",  "examine ",  "go ",
                                                      "enter ", "describe ", "read "};

class Changes {
 public:
  void Take(const std::string& action, const std::string& room) {
    const auto begins = [&](std::string_view begin) { return action.starts_with(begin); };
    if (OnlyTells(action) || std::ranges::any_of(kPassing, begins)) return;
    for (const Setting& setting : kSettings) {
      if (!begins(setting.begin)) continue;
      // Each room has its own doors.
      std::string thing = action.substr(setting.begin.size());
      if (thing.starts_with("door")) thing = room + "'s " + thing;
      facts_[std::string(setting.property) + " " + thing] =
          setting.value == "#room" ? room : std::string(setting.value);
      return;
    }
    if (begins("move ") || begins("put ")) {
      const std::string what = action.substr(action.find(' ') + 1);
      const size_t to = what.find(" to ");
      if (to != std::string::npos) {
        facts_["place " + what.substr(0, to)] = what.substr(to + 4);
        return;
      }
    }
    // The order matters for these: wait, focus, pour, mix, connect and the like.
    sequence_ += action + ";";
  }

  std::string Text(const std::string& room) const {
    std::string text = room + "|";
    for (const auto& [what, value] : facts_) text += what + "=" + value + ";";
    return text + "|" + sequence_;
  }

 private:
  std::map<std::string, std::string> facts_;
  std::string sequence_;
};

// The action that the agent took with a number, from the question that it answered.
std::string Answered(std::string_view question, const std::string& number) {
  const std::string mark = number + ": ";
  const size_t at = question.find(mark);
  return at == std::string_view::npos ? number
                                      : "answer " + number + " of " + std::string(question);
}

}  // namespace

std::string SciWorldStateKey(std::span<const Message> history) {
  const std::optional<SciWorldView> view = ReadSciWorld(history);
  if (!view) return "";
  const SciWorldFamily family;
  Changes changes;
  std::string room = view->start;
  std::string_view before;
  for (size_t i = 0; i + 1 < history.size(); ++i) {
    const Message& reply = history[i + 1];
    if (history[i].role != "assistant") {
      before = history[i].content;
      continue;
    }
    std::string action = SciWorldKey(family.ParseAction(history[i].content));
    if (NotUnderstood(reply.content) || IsNotPossible(reply.content)) continue;
    if (IsAmbiguous(before)) action = Answered(before, action);
    if (IsAmbiguous(reply.content)) action = "ask " + action;
    changes.Take(action, room);
    const std::string moved = ReadSciWorldMove(reply.content);
    if (!moved.empty()) room = moved;
  }
  // A question that waits is part of the state.
  return changes.Text(room) + (view->ambiguous ? "?" : "");
}

}  // namespace agentr
