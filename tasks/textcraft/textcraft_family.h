// TextCraft: Minecraft recipes as a text game (Prasad et al. 2023), as AgentGym serves it.
#pragma once

#include "tasks/revision_hints.h"
#include "tasks/task_family.h"

namespace agentr {

class TextCraftFamily : public TaskFamily, public RevisionHints {
 public:
  std::string_view name() const override { return "textcraft"; }
  const RevisionHints& hints() const override { return *this; }
  std::string ParseAction(std::string_view response) const override;
  // Decided by the reply alone.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  // True for the replies "Could not …" and "Wrong item format …".
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  std::string StateKey(std::span<const Message> history) const override;  // what is held
  // For refused actions: malformed, not_found, missing_item (of a shown command), no_recipe (no
  // such command). For others: wrong_amount (of a needed item), useless_get, useless_craft.
  std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                               std::string_view after) const override;
  // Actions that get the items missing for the wanted actions, or craft them by a shown command.
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;
  // With the chain of commands that leads to the action (textcraft_teacher.h).
  std::optional<WordedAction> Reworded(std::span<const Message> history,
                                       std::string_view action) const override;
  bool ThoughtFits(std::span<const Message> history, std::string_view thought,
                   std::string_view action) const override;
};

// The action as AgentGym's client sends it: only letters, digits, commas and single spaces, with no
// space at the ends.
std::string CleanTextCraftAction(std::string_view action);

}  // namespace agentr
