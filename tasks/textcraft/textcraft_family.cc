#include "tasks/textcraft/textcraft_family.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "tasks/action_text.h"
#include "tasks/textcraft/textcraft_conversation.h"
#include "tasks/textcraft/textcraft_planner.h"
#include "tasks/textcraft/textcraft_teacher.h"

namespace agentr {
namespace {

bool IsKeptInTextCraft(char c) { return IsAsciiLetter(c) || IsAsciiDigit(c) || c == ','; }

bool RefusesTextCraft(std::string_view reply) {
  return reply.starts_with("Could not") || reply.starts_with("Wrong item format");
}

// The thought without a first sentence that names the action before it, such as "I did get 1 stick
// instead of craft 4 stick using 2 planks.", which tells what was done and is no plan.
std::string_view WithoutNotice(const TaskFamily& family, std::span<const Message> history,
                               std::string_view thought) {
  const size_t end = thought.find(". ");
  if (end == std::string_view::npos || history.size() < 2) return thought;
  const std::string before = family.ParseAction(history[history.size() - 2].content);
  const bool names = !before.empty() && thought.substr(0, end).find(before) != thought.npos;
  return names ? thought.substr(end + 2) : thought;
}

}  // namespace

std::string CleanTextCraftAction(std::string_view action) {
  std::string clean;
  clean.reserve(action.size());
  bool space = false;  // a space is due before the next kept character
  for (const char c : action) {
    if (c == ' ') space = !clean.empty();
    if (!IsKeptInTextCraft(c)) continue;
    if (space) clean += ' ';
    space = false;
    clean += c;
  }
  return clean;
}

std::string TextCraftFamily::ParseAction(std::string_view response) const {
  return CleanTextCraftAction(TextOfAction(response));
}

bool TextCraftFamily::LeavesStateUnchanged(std::string_view /*before*/, std::string_view /*action*/,
                                           std::string_view after) const {
  return RefusesTextCraft(after) || after.starts_with("Inventory:");
}

bool TextCraftFamily::IsRefusal(std::string_view /*before*/, std::string_view /*action*/,
                                std::string_view after) const {
  return RefusesTextCraft(after);
}

std::vector<bool> TextCraftFamily::LikelyUnchanged(std::span<const Message> history,
                                                   std::span<const std::string> actions) const {
  const std::optional<TextCraftView> view = ReadTextCraft(history);
  std::vector<bool> likely;
  for (const std::string& action : actions) likely.push_back(!view || LooksRefused(*view, action));
  return likely;
}

namespace {

// "oak planks" of "get 2 oak planks".
std::string_view ItemOfGet(std::string_view action) {
  const size_t item = action.find(' ', std::min(action.size(), std::string_view("get ").size()));
  return item == std::string_view::npos ? std::string_view() : action.substr(item + 1);
}

// True if the action copies a shown command.
bool IsShownCommand(const TextCraftView& view, std::string_view action) {
  return std::ranges::any_of(view.commands, [&](const CraftCommand& command) {
    const TextCraftAction craft{TextCraftVerb::kCraft,
                                command.result,
                                command.count,
                                {command.ingredients.begin(), command.ingredients.end()}};
    return ActionText(view, craft) == action;
  });
}

}  // namespace

std::string TextCraftFamily::StateKey(std::span<const Message> history) const {
  const std::optional<TextCraftView> view = ReadTextCraft(history);
  if (!view) return "";
  std::string key;
  for (const int count : view->held) key += fmt::format("{} ", count);
  return key;
}

std::string_view TextCraftFamily::MistakeName(std::span<const Message> history,
                                              std::string_view action,
                                              std::string_view after) const {
  const bool get = action.starts_with("get ");
  const std::optional<TextCraftView> view = ReadTextCraft(history);
  if (after.starts_with("Could not find enough items")) {
    return view && IsShownCommand(*view, action) ? "missing_item" : "no_recipe";
  }
  if (after.starts_with("Could not find a valid recipe")) return "no_recipe";
  if (after.starts_with("Could not find") && get) return "not_found";
  if (RefusesTextCraft(after)) return "malformed";
  if (!get) return "useless_craft";
  const bool needed =
      view && std::ranges::any_of(PlanTextCraft(*view), [&](const auto& step) {
        const std::string planned = ActionText(*view, step);
        return step.verb == TextCraftVerb::kGet && ItemOfGet(planned) == ItemOfGet(action);
      });
  return needed ? "wrong_amount" : "useless_get";
}

std::vector<std::string> TextCraftFamily::Recoveries(std::span<const Message> history,
                                                     std::span<const std::string> wanted) const {
  const std::optional<TextCraftView> view = ReadTextCraft(history);
  if (!view) return {};
  std::vector<std::string> actions;
  const auto supply = [&](const ItemCount& missing, const auto& deeper) -> void {
    bool crafted = false;
    for (const CraftCommand& command : view->commands) {
      if (command.result != missing.item) continue;
      crafted = true;
      const TextCraftAction craft{TextCraftVerb::kCraft,
                                  missing.item,
                                  command.count,
                                  {command.ingredients.begin(), command.ingredients.end()}};
      std::string text = ActionText(*view, craft);
      if (std::ranges::find(actions, text) != actions.end()) continue;
      const std::vector<ItemCount> parts = MissingFor(*view, {&text, 1});
      actions.push_back(std::move(text));
      for (const ItemCount& part : parts) deeper(part, deeper);
    }
    if (crafted) return;
    std::string get = ActionText(*view, {TextCraftVerb::kGet, missing.item, missing.count, {}});
    if (std::ranges::find(actions, get) == actions.end()) actions.push_back(std::move(get));
  };
  for (const ItemCount& missing : MissingFor(*view, wanted)) supply(missing, supply);
  return actions;
}

std::optional<WordedAction> TextCraftFamily::Reworded(std::span<const Message> history,
                                                      std::string_view action) const {
  const std::optional<TextCraftView> view = ReadTextCraft(history);
  const std::optional<TaughtStep> step = view ? ExplainTextCraft(*view, action) : std::nullopt;
  if (!step) return std::nullopt;
  const bool failed = RefusesTextCraft(history.back().content);
  return WordedAction{step->thought, ActionText(*view, step->action),
                      std::string(failed ? kTextCraftFailed : "")};
}

bool TextCraftFamily::ThoughtFits(std::span<const Message> history, std::string_view thought,
                                  std::string_view action) const {
  const std::optional<TextCraftView> view = ReadTextCraft(history);
  if (!view) return true;
  const bool admits = thought.starts_with(kTextCraftFailed);
  if (admits && !RefusesTextCraft(history.back().content)) return false;
  return FitsTextCraft(*view, WithoutNotice(*this, history, thought), action);
}

}  // namespace agentr
