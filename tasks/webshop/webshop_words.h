// The words of thoughts in WebShop's demonstrations (make_demos --shop_checks) and in rows that are
// reworded (RevisionHints::Reworded): first what the last action did, then why the next one is
// taken. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "tasks/webshop/webshop_page.h"

namespace agentr {

// "Lornby Low Carb Hot Sauce" of "Lornby Low Carb Hot Sauce with Fruity Start, 5 Ounce".
std::string WebShopNameOf(std::string_view title);

// The name of the product that `action` opens on a page of results, or "".
std::string WebShopOpenedName(const WebShopPage& page, std::string_view action);

// What an action did on `page`: "I clicked navy", "This is NAME" or "I searched for WORDS".
std::string WebShopDeed(const WebShopPage& page, std::string_view action);

// What an action acts on: "navy", NAME or "what is asked for".
std::string WebShopObject(const WebShopPage& page, std::string_view action);

// Why `action` is taken on `page`, whose instruction asks for it: "color: navy, as asked.". With
// `named`, a product is called by its name.
std::string WebShopReason(const WebShopPage& page, std::string_view action, bool named);

}  // namespace agentr
