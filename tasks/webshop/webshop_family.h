// WebShop (Yao et al. 2022) as AgentGym serves it: the task is to buy a product by an instruction,
// in a web shop whose pages are shown as text.
#pragma once

#include "tasks/revision_hints.h"
#include "tasks/task_family.h"

namespace agentr {

class WebShopFamily : public TaskFamily, public RevisionHints {
 public:
  std::string_view name() const override { return "webshop"; }
  const RevisionHints& hints() const override { return *this; }

  // The first line of the action's text, up to the last "]" if it has the form of an action.
  std::string ParseAction(std::string_view response) const override;

  // Two equal pages prove little: a chosen option is not shown on any page, and a repeated search,
  // or a button that leads to the same page, forgets the options chosen so far. So besides before
  // == after, the action must be one that the shop cannot act on (IsIdle in webshop_page.h).
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  // True if the shop cannot act on the action and answers with the same page. Choosing an option
  // also shows the same page but is no refusal.
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  // The page, its product with the chosen options, and the results to which "< Prev" leads.
  std::string StateKey(std::span<const Message> history) const override;
  // For refused actions: malformed, not_on_page. For others: wrong_search, wrong_product,
  // wrong_option, side_page, wandered.
  std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                               std::string_view after) const override;
  // The buttons that lead back; searches and choices made before have to be repeated.
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;
  // In the words of make_demos --shop_checks. nullopt for an action that the instruction does not
  // ask for, such as a look at the reviews or an option of its own choice.
  std::optional<WordedAction> Reworded(std::span<const Message> history,
                                       std::string_view action) const override;
};

}  // namespace agentr
