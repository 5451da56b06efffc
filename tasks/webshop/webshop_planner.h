// What to do next in WebShop, from what a conversation shows.
//
// Search with the key words of the instruction; open the result whose title has most of them and
// whose price is within the limit; choose the wanted options and buy. A product that lacks a wanted
// option or is too dear is left for the next result, up to kMostLooks products; then the best of
// those is bought.
#pragma once

#include <string>
#include <vector>

#include "tasks/webshop/webshop_conversation.h"

namespace agentr {

inline constexpr size_t kMostLooks = 3;

// The next action. A pure function of the view.
std::string PlanWebShop(const WebShopView& view);

// Indices of the products on a results page, the most promising first: those within the price limit
// before those that are too dear, then by the key words in the title, then as the shop lists them.
std::vector<size_t> RankProducts(const WebShopView& view, const WebShopPage& results);

// The wanted values that the product shown offers and that are not chosen yet, in lower case.
std::vector<std::string> MissingChoices(const WebShopView& view);

}  // namespace agentr
