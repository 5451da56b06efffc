// What a WebShop conversation shows: the goal, the page that it stands on, and what follows from
// the turns so far.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "tasks/webshop/webshop_goal.h"
#include "tasks/webshop/webshop_page.h"

namespace agentr {

// A product whose page was opened.
struct WebShopLook {
  std::string id;  // in lower case; "" where the turns that told it were cut
  WebShopPage page;
};

// Views point into the messages that it was read from.
struct WebShopView {
  WebShopGoal goal;
  std::vector<std::string> key_words;  // of the goal's text

  WebShopPage page;     // the one shown now
  WebShopPage results;  // the last ones shown; of kind kOther if there were none

  std::vector<WebShopLook> looks;   // each product once, in the order they were opened
  std::optional<size_t> item;       // of `looks`: the product shown now, on its page or a sub-page
  std::vector<std::string> chosen;  // values clicked since it was opened, in lower case

  int searches = 0;
  std::string failed_action;  // the last action that the shop could not act on; "" if none
  int wasted_turns = 0;       // turns in a row, up to now, of that sort
};

// Reads the conversation; nothing when no message of it is a page with an instruction. Turns cut
// out after the first observation are tolerated: what they told is missing.
std::optional<WebShopView> ReadWebShop(std::span<const Message> conversation);

}  // namespace agentr
