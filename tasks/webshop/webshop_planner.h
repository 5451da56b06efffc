// Plans the next action in WebShop from the facts that a conversation shows.
//
// The plan: search with the key words of the instruction, open the result whose title has the most
// of them and whose price is within the limit, choose the wanted options, and buy. If a product
// lacks a wanted option or is too expensive, the next result is opened, up to kMostLooks products;
// then the best of them is bought.
#pragma once

#include <string>
#include <vector>

#include "tasks/webshop/webshop_conversation.h"

namespace agentr {

inline constexpr size_t kMostLooks = 3;

// The next action. A pure function of the view.
std::string PlanWebShop(const WebShopView& view);

// Indices of the products on a results page, the most promising first: products within the price
// limit before others, then by the key words in the title, then in the shop's order.
std::vector<size_t> RankProducts(const WebShopView& view, const WebShopPage& results);

// The wanted values that the present product offers and that are not yet chosen, in lower case.
std::vector<std::string> MissingChoices(const WebShopView& view);

}  // namespace agentr
