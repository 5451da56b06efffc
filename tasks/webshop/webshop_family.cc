#include "tasks/webshop/webshop_family.h"

#include <algorithm>

#include "tasks/webshop/webshop_action.h"
#include "tasks/webshop/webshop_conversation.h"
#include "tasks/webshop/webshop_page.h"
#include "tasks/webshop/webshop_planner.h"
#include "tasks/webshop/webshop_words.h"

namespace agentr {
std::string WebShopFamily::ParseAction(std::string_view response) const {
  std::string text = TaskFamily::ParseAction(response);
  if (ReadWebShopAction(text)) text.erase(text.rfind(']') + 1);
  return text;
}

bool WebShopFamily::LeavesStateUnchanged(std::string_view before, std::string_view action,
                                         std::string_view after) const {
  return before == after && IsIdle(before, action);
}

bool WebShopFamily::IsRefusal(std::string_view before, std::string_view action,
                              std::string_view after) const {
  return LeavesStateUnchanged(before, action, after);
}

std::vector<bool> WebShopFamily::LikelyUnchanged(std::span<const Message> history,
                                                 std::span<const std::string> actions) const {
  const std::string_view page = history.empty() ? "" : std::string_view(history.back().content);
  std::vector<bool> likely;
  for (const std::string& action : actions) likely.push_back(IsIdle(page, action));
  return likely;
}

std::string WebShopFamily::StateKey(std::span<const Message> history) const {
  std::optional<WebShopView> view = ReadWebShop(history);
  if (!view) return "";
  std::ranges::sort(view->chosen);
  std::string key;
  const auto add = [&](std::string_view piece) { key.append(piece).push_back('\n'); };
  for (const std::string_view piece : view->page.pieces) add(piece);
  key += '\f';
  if (view->item) add(view->looks[*view->item].id);
  for (const std::string& value : view->chosen) add(value);
  key += '\f';
  // A search forgets earlier results, so only results to which the page can lead back are part of
  // the state.
  if (view->item) {
    for (const std::string_view piece : view->results.pieces) add(piece);
  }
  return key;
}

std::string_view WebShopFamily::MistakeName(std::span<const Message> history,
                                            std::string_view action, std::string_view after) const {
  const std::string_view before = history.empty() ? "" : std::string_view(history.back().content);
  const std::optional<WebShopAction> read = ReadWebShopAction(action);
  if (!read || (!read->IsSearch() && !read->IsClick())) return "malformed";
  if (IsRefusal(before, action, after)) return "not_on_page";
  if (read->IsSearch()) return "wrong_search";
  const std::string key = WebShopKey(read->argument);
  const WebShopPage page = ReadWebShopPage(before);
  const auto is_key = [&](std::string_view value) { return WebShopKey(value) == key; };
  if (std::ranges::any_of(page.products, is_key, &WebShopProduct::id)) return "wrong_product";
  if (key == "description" || key == "features" || key == "reviews") return "side_page";
  if (key == "< prev" || key == "next >" || key == "back to search") return "wandered";
  return page.kind == WebShopPageKind::kItem ? "wrong_option" : "wandered";
}

std::vector<std::string> WebShopFamily::Recoveries(std::span<const Message> history,
                                                   std::span<const std::string> /*wanted*/) const {
  const WebShopPage page =
      ReadWebShopPage(history.empty() ? std::string_view() : history.back().content);
  std::vector<std::string> actions;
  for (const std::string_view button : {"< Prev", "Back to Search"}) {
    if (page.Shows(WebShopKey(button))) actions.push_back(WebShopClick(button));
  }
  return actions;
}

namespace {

// True if the instruction and what was seen give a reason for `action`, spelled as on the page.
bool IsAskedFor(const WebShopView& view, std::string_view action) {
  const std::optional<WebShopAction> read = ReadWebShopAction(action);
  if (!read) return false;
  if (read->IsSearch()) return true;
  const std::string key = WebShopKey(read->argument);
  if (key == "buy now") return MissingChoices(view).empty();
  if (key == "< prev" || key == "back to search" || key == "next >") return true;
  if (view.page.kind == WebShopPageKind::kResults) {
    return !WebShopOpenedName(view.page, action).empty();
  }
  return std::ranges::any_of(view.goal.choices, [&](const WebShopChoice& choice) {
    return WebShopKey(choice.value) == key;
  });
}

}  // namespace

std::optional<WordedAction> WebShopFamily::Reworded(std::span<const Message> history,
                                                    std::string_view action) const {
  const std::optional<WebShopView> view = ReadWebShop(history);
  if (!view || history.back().content == kRevisionReply) return std::nullopt;
  std::string spelled = AsSpelledOnPage(history.back().content, std::string(action));
  if (!IsAskedFor(*view, spelled)) return std::nullopt;
  WordedAction worded{WebShopReason(view->page, spelled, /*named=*/true), spelled};
  if (history.size() >= 3) {
    const std::string& before = history[history.size() - 3].content;
    const std::string last = ParseAction(history[history.size() - 2].content);
    worded.check = IsIdle(before, last) ? "That did not work."
                                        : WebShopDeed(ReadWebShopPage(before), last) + ".";
  }
  return worded;
}

}  // namespace agentr
