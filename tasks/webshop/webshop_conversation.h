// The facts that a WebShop conversation shows: the goal, the present page, and the history of
// products, choices and searches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "tasks/webshop/webshop_goal.h"
#include "tasks/webshop/webshop_page.h"

namespace agentr {

// A product whose page was opened.
struct WebShopLook {
  std::string id;  // in lower case; "" if the turns that showed it were removed
  WebShopPage page;
};

// The string views point into the messages that were read.
struct WebShopView {
  WebShopGoal goal;
  std::vector<std::string> key_words;  // of the goal's text

  WebShopPage page;     // the present page
  WebShopPage results;  // the last results shown; of kind kOther if there were none

  std::vector<WebShopLook> looks;   // each product once, in the order they were opened
  std::optional<size_t> item;       // index into `looks` of the product shown now, on its page or a
                                    // sub-page
  std::vector<std::string> chosen;  // option values clicked since the product was opened, in lower
                                    // case

  int searches = 0;
  std::string failed_action;  // the last action that the shop could not act on; "" if none
  int wasted_turns = 0;       // the number of last turns in a row that were such actions
  int actions_left = 1000;    // before the session ends; few only in ArCHer's style
};

// Reads the conversation; nullopt if no message is a page with an instruction. Turns may have been
// removed after the first observation; their information is then missing.
std::optional<WebShopView> ReadWebShop(std::span<const Message> conversation);

}  // namespace agentr
