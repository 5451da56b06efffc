// TextCraft: Minecraft recipes as a text game (Prasad et al. 2023), as AgentGym serves it.
#pragma once

#include "tasks/task_family.h"

namespace agentr {

class TextCraftFamily : public TaskFamily {
 public:
  std::string_view name() const override { return "textcraft"; }
  std::vector<Message> Instruction() const override;  // configs/prompts/textcraft.txt
  std::string ParseAction(std::string_view response) const override;
  // The reply alone tells.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  // "Could not …" and "Wrong item format …".
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  std::string StateKey(std::span<const Message> history) const override;  // what is held
  // malformed, not_found, missing_item (of a command that is shown), no_recipe (no such command) |
  // wrong_amount (of what is needed), useless_get, useless_craft.
  std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                               std::string_view after) const override;
  // Getting, or crafting by a command that is shown, what the wanted actions will run short of.
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;
};

// What AgentGym's client sends of an action: only letters, digits, commas and spaces, the spaces
// single and none at the ends.
std::string CleanTextCraftAction(std::string_view action);

}  // namespace agentr
