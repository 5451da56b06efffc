// What a TextCraft conversation shows: the commands and the goal of its first observation, and the
// inventory that follows from the turns since then.
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

// A line "craft <count> <result> using <count> <ingredient>, …".
struct CraftCommand {
  int result = 0;
  int count = 0;
  std::span<const ItemCount> ingredients;
};

// Items are numbered as they appear. Views point into the messages that it was read from.
struct TextCraftView {
  std::vector<std::string_view> names;
  std::vector<CraftCommand> commands;
  int goal = 0;

  std::vector<int> held;        // per item; a guess where turns were cut from the prompt
  std::vector<char> not_found;  // per item: 1 where the game refused to "get" it
  // (made, used) per item of a craft that fits no recipe: how a kind shows that an item is no
  // member.
  std::vector<std::pair<int, int>> misfits;
  std::string failed_action;  // the last action that the game refused; "" if none
  int wasted_turns = 0;       // turns in a row, up to now, that changed nothing

  std::vector<ItemCount> ingredients;  // what the commands' spans point into

  TextCraftView() = default;
  TextCraftView(TextCraftView&&) = default;  // keeps the spans valid; a copy would not
  TextCraftView& operator=(TextCraftView&&) = default;
};

// Reads the conversation; nothing when no message of it is the first observation of a task. Turns
// cut out after the first observation are tolerated: what they brought is then missing in `held`
// until an inventory is seen.
std::optional<TextCraftView> ReadTextCraft(std::span<const Message> conversation);

// True if the game will probably refuse the action or only tell the inventory: getting what a
// command makes or what is in no command, crafting without the parts or by no visible command.
bool LooksRefused(const TextCraftView& view, std::string_view action);

// What `actions` would run short of, one after the other, if all the rest went well: items in the
// order in which they are first missed, with the counts that are missing in all.
std::vector<ItemCount> MissingFor(const TextCraftView& view, std::span<const std::string> actions);

}  // namespace agentr
