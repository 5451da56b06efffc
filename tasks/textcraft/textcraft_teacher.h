// What a TextCraft demonstration does next, and the reasons for an action, command by command.
//
// From the goal down: the command that makes the item, the first of its ingredients that is not
// there in the number needed, the command that makes that one, and so on, until something can be
// picked up or crafted. The thought says just this chain, in the words of the commands, so that
// each of its steps can be copied from what the conversation shows:
//
//   Thought: oak door using 6 oak planks makes 3: need 6 oak planks. oak planks using 1 oak log
//   makes 4: need 2 oak log.
//   Action: get 2 oak log
//
// The planner of the scripted models (tasks/textcraft) plans all at once, and its thoughts do not
// say why: fit for search, but little to learn from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tasks/textcraft/textcraft_conversation.h"
#include "tasks/textcraft/textcraft_planner.h"

namespace agentr {

// What a demonstration says first behind a refused action.
inline constexpr std::string_view kTextCraftFailed = "That did not work.";

struct TaughtStep {
  std::string thought;
  TextCraftAction action;
};

// "oak door using 6 oak planks makes 3".
std::string Recital(const TextCraftView& view, const CraftCommand& command);

// The command of the view that the thought recites last; nullptr if it recites none.
const CraftCommand* LastRecited(const TextCraftView& view, std::string_view thought);

// Nothing where the commands show no way to the goal. The same view gives the same step, and from
// whatever is held the steps lead to the goal.
std::optional<TaughtStep> TeachTextCraft(const TextCraftView& view);

// The reasons for an action that somebody else chose, in the same words. Nothing if the action does
// not follow from the commands: it gets or makes what is not missing or not needed, gets another
// number, or copies no command. The number before a crafted item, which the game ignores, becomes
// that of the command.
std::optional<TaughtStep> ExplainTextCraft(const TextCraftView& view, std::string_view action);

// False if the thought contradicts itself or the action: it recites a command that is not shown, or
// its last words ("need 2 oak log", or the recital of a command) are about something else than what
// the action gets or makes. A thought that recites nothing fits every action.
bool FitsTextCraft(const TextCraftView& view, std::string_view thought, std::string_view action);

}  // namespace agentr
