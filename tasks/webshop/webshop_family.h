// WebShop: an instruction to buy a product in a web shop, played on the pages as text (Yao et al.
// 2022), as AgentGym serves it.
#pragma once

#include "tasks/task_family.h"

namespace agentr {

class WebShopFamily : public TaskFamily {
 public:
  std::string_view name() const override { return "webshop"; }
  std::vector<Message> Instruction() const override;  // configs/prompts/webshop.txt

  // The first line of the action's text, up to the last "]" where it has the form of an action.
  std::string ParseAction(std::string_view response) const override;

  // Two equal pages prove little: choosing an option shows on no page, and a search that lists the
  // same products once more, or a button that leads to the page it stands on, forgets the options
  // chosen so far. So besides before == after the action must be one that the shop cannot have
  // acted on (IsIdle in webshop_page.h).
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  // What the shop cannot act on, and answers with the same page; what leaves the page as it is to
  // look at, such as an option, is none.
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  // The page, the product on it with the options chosen, and the results that "< Prev" leads to.
  std::string StateKey(std::span<const Message> history) const override;
  // malformed, not_on_page | wrong_search, wrong_product, wrong_option, side_page, wandered.
  std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                               std::string_view after) const override;
  // The buttons that lead back: what was searched and chosen before has to be done again.
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;
};

}  // namespace agentr
