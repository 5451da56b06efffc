// The facts that a TextCraft conversation shows: the commands and the goal of its first
// observation, and the inventory after the turns since then.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

struct ItemCount {
  int item = 0;  // index into TextCraftView::names
  int count = 0;
};

enum class TextCraftVerb { kGet, kCraft, kInventory };

struct TextCraftAction {
  TextCraftVerb verb = TextCraftVerb::kInventory;
  int item = 0;                 // what is picked up or made
  int count = 0;                // how many of it
  std::vector<ItemCount> uses;  // ingredients of a craft: only items, no kinds, as the game
                                // requires
};

// A line "craft <count> <result> using <count> <ingredient>, …".
struct CraftCommand {
  int result = 0;
  int count = 0;
  std::span<const ItemCount> ingredients;
};

// Items are numbered in the order of their first appearance. The string views point into the
// messages that were read.
struct TextCraftView {
  std::vector<std::string_view> names;
  std::vector<CraftCommand> commands;
  int goal = 0;

  std::vector<int> held;        // per item; a guess if turns were removed from the prompt
  std::vector<char> not_found;  // per item: 1 if the game refused to "get" it
  // (made, used) for each ingredient of a craft that fits no recipe; shows that the item is not a
  // member of a kind.
  std::vector<std::pair<int, int>> misfits;
  std::string failed_action;  // the last action that the game refused; "" if none
  int wasted_turns = 0;       // the number of last turns in a row that changed nothing

  std::vector<ItemCount> ingredients;  // the storage for the commands' spans

  TextCraftView() = default;
  TextCraftView(TextCraftView&&) = default;  // keeps the spans valid; a copy would not
  TextCraftView& operator=(TextCraftView&&) = default;
};

// Reads the conversation; nullopt if no message is the first observation of a task. Turns may have
// been removed after the first observation; what they brought is missing in `held` until an
// inventory is seen.
std::optional<TextCraftView> ReadTextCraft(std::span<const Message> conversation);

// The text of an action, "get 2 oak log", as its parts; nullopt if it is neither a get nor a craft,
// or contains an item that no command names.
std::optional<TextCraftAction> ReadTextCraftAction(const TextCraftView& view,
                                                   std::string_view action);

// True if the game will probably refuse the action or only show the inventory: getting an item that
// a command makes or that no command names, crafting without the ingredients or without a visible
// command.
bool LooksRefused(const TextCraftView& view, std::string_view action);

// The items that would be missing if `actions` were taken one after the other: in the order in
// which they are first missing, with the total missing counts.
std::vector<ItemCount> MissingFor(const TextCraftView& view, std::span<const std::string> actions);

}  // namespace agentr
