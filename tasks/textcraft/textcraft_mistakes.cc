#include "tasks/textcraft/textcraft_mistakes.h"

#include <array>

namespace agentr {
namespace {

enum class TextCraftMistakeKind {
  kCount,
  kIngredient,
  kGetCraftable,
  kTooEarly,
  kRepeat,
  kInventory
};

int AnyItem(const TextCraftView& view, RandomStream& random) {
  return static_cast<int>(random.Below(view.names.size()));
}

// The craft as its command says it, including kinds.
TextCraftAction AsWritten(const CraftCommand& command) {
  return {TextCraftVerb::kCraft,
          command.result,
          command.count,
          {command.ingredients.begin(), command.ingredients.end()}};
}

TextCraftMistakeKind DrawMistakeKind(const TextCraftView& view, RandomStream& random) {
  // After a refusal, repeating the action is likely.
  if (view.wasted_turns > 0 && !view.failed_action.empty() && random.Chance(0.5)) {
    return TextCraftMistakeKind::kRepeat;
  }
  static constexpr std::array kMistakes = {
      TextCraftMistakeKind::kGetCraftable, TextCraftMistakeKind::kGetCraftable,
      TextCraftMistakeKind::kTooEarly,     TextCraftMistakeKind::kTooEarly,
      TextCraftMistakeKind::kIngredient,   TextCraftMistakeKind::kIngredient,
      TextCraftMistakeKind::kCount,        TextCraftMistakeKind::kInventory,
  };
  return random.Pick(kMistakes);
}

// One less or one more, but at least one.
void ChangeCount(int& count, RandomStream& random) {
  count += count > 1 && random.Chance(0.5) ? -1 : 1;
}

TextCraftAction WrongCount(TextCraftAction action, RandomStream& random) {
  // The game ignores the result's count in a craft, so the count of an ingredient is changed.
  int& count =
      action.uses.empty() ? action.count : action.uses[random.Below(action.uses.size())].count;
  ChangeCount(count, random);
  return action;
}

TextCraftAction GetCraftable(const TextCraftView& view, RandomStream& random) {
  const CraftCommand& command = view.commands[random.Below(view.commands.size())];
  const int item = random.Chance(0.3) ? view.goal : command.result;
  return {TextCraftVerb::kGet, item, 1 + static_cast<int>(random.Below(2)), {}};
}

// Crafts the goal without ingredients, or by any other command.
TextCraftAction TooEarly(const TextCraftView& view, RandomStream& random) {
  if (random.Chance(0.5)) {
    for (const CraftCommand& command : view.commands) {
      if (command.result == view.goal) return AsWritten(command);
    }
  }
  return AsWritten(view.commands[random.Below(view.commands.size())]);
}

TextCraftAction WrongIngredient(const TextCraftView& view, TextCraftAction action,
                                RandomStream& random) {
  const int other = AnyItem(view, random);
  if (action.verb != TextCraftVerb::kCraft || action.uses.empty()) {
    action.item = other;
  } else {
    action.uses[random.Below(action.uses.size())].item = other;
  }
  return action;
}

}  // namespace

std::string TextCraftMistake(const TextCraftView& view, const TextCraftAction& meant,
                             RandomStream& random) {
  if (view.commands.empty()) return "inventory";
  const std::string right = ActionText(view, meant);
  const auto wrong = [&]() -> std::string {
    switch (DrawMistakeKind(view, random)) {
      case TextCraftMistakeKind::kCount:
        return ActionText(view, WrongCount(meant, random));
      case TextCraftMistakeKind::kIngredient:
        return ActionText(view, WrongIngredient(view, meant, random));
      case TextCraftMistakeKind::kGetCraftable:
        return ActionText(view, GetCraftable(view, random));
      case TextCraftMistakeKind::kTooEarly:
        return ActionText(view, TooEarly(view, random));
      case TextCraftMistakeKind::kRepeat:
        return view.failed_action;
      case TextCraftMistakeKind::kInventory:
        return "inventory";
    }
    return "inventory";
  }();
  // The mistake may happen to be the meant action; then draw again.
  return wrong == right ? "inventory" : wrong;
}

TextCraftAction RandomTextCraftAction(const TextCraftView& view, RandomStream& random) {
  const uint64_t draw = random.Below(20);
  if (draw == 0 || view.commands.empty()) return {};
  const CraftCommand& command = view.commands[random.Below(view.commands.size())];
  if (draw < 10 || command.ingredients.empty()) return AsWritten(command);
  const ItemCount& needed = random.Pick(command.ingredients);
  return {TextCraftVerb::kGet, needed.item, needed.count, {}};
}

}  // namespace agentr
