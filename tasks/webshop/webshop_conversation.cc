#include "tasks/webshop/webshop_conversation.h"

#include <algorithm>
#include <utility>

#include "tasks/webshop/webshop_action.h"
#include "tasks/webshop/webshop_family.h"

namespace agentr {
namespace {

using Kind = WebShopPageKind;

// The id of the present product: the clicked text, unless it is on the page itself (an option, or
// the way back from a sub-page); else the id from the last results.
std::string IdOf(const WebShopView& view, const WebShopPage& page, const std::string& clicked) {
  if (!clicked.empty() && !page.Shows(clicked)) return clicked;
  for (const WebShopProduct& product : view.results.products) {
    if (product.title == page.product.title && product.price_tag == page.product.price_tag) {
      return WebShopKey(product.id);
    }
  }
  return "";
}

// Records the present product; a product without an id is recognised by its title.
void NoteItem(WebShopView& view, const std::string& clicked) {
  if (view.item) return;
  const std::string id = IdOf(view, view.page, clicked);
  const auto seen = std::ranges::find_if(view.looks, [&](const WebShopLook& look) {
    return look.id == id && look.page.product.title == view.page.product.title;
  });
  view.item = static_cast<size_t>(seen - view.looks.begin());
  if (seen == view.looks.end()) view.looks.push_back({id, view.page});
}

// A value replaces the earlier choice of the same option.
void Choose(WebShopView& view, const std::string& value) {
  for (const WebShopOption& option : view.page.options) {
    const auto has = [&](const std::string& v) {
      return std::ranges::any_of(option.values,
                                 [&](std::string_view one) { return WebShopKey(one) == v; });
    };
    if (!has(value)) continue;
    std::erase_if(view.chosen, has);
    view.chosen.push_back(value);
    return;
  }
}

void CountWaste(WebShopView& view, bool idle, std::string action) {
  view.wasted_turns = idle ? view.wasted_turns + 1 : 0;
  if (idle) view.failed_action = std::move(action);
}

// Processes the reply `text` to `action`.
void Apply(WebShopView& view, std::string_view before, std::string action, std::string_view text) {
  WebShopPage page = ReadWebShopPage(text);
  const std::optional<WebShopAction> read = ReadWebShopAction(action);
  const bool idle = before == text && IsIdle(before, action);
  view.page = std::move(page);
  if (view.page.kind != Kind::kItem && view.page.kind != Kind::kSubpage) {
    view.item.reset();
    view.chosen.clear();
  }
  if (view.page.kind == Kind::kResults) view.results = view.page;
  if (read && !idle) {
    if (read->IsSearch()) ++view.searches;
    const std::string clicked = read->IsClick() ? WebShopKey(read->argument) : "";
    if (view.page.kind == Kind::kItem) {
      NoteItem(view, clicked);
      Choose(view, clicked);
    }
  }
  CountWaste(view, idle, std::move(action));
}

}  // namespace

std::optional<WebShopView> ReadWebShop(std::span<const Message> conversation) {
  WebShopView view;
  auto turn = std::ranges::find_if(conversation, [&](const Message& message) {
    view.page = ReadWebShopPage(message.content);
    return view.page.kind != Kind::kOther && !view.page.instruction.empty();
  });
  if (turn == conversation.end()) return std::nullopt;
  view.goal = ReadWebShopGoal(view.page.instruction);
  view.key_words = WebShopKeyWords(view.goal.text);
  std::string_view before = turn->content;
  std::string action;
  for (++turn; turn != conversation.end(); ++turn) {
    if (turn->role == "assistant") {
      action = WebShopFamily().ParseAction(turn->content);
    } else {
      Apply(view, before, std::exchange(action, {}), turn->content);
      before = turn->content;
    }
  }
  return view;
}

}  // namespace agentr
