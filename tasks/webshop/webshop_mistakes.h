// WebShop actions beside the plan, for scripted models: mistakes, and random ones.
#pragma once

#include <string>
#include <string_view>

#include "common/random.h"
#include "tasks/webshop/webshop_conversation.h"

namespace agentr {

// A mistake of the sort that models make, in place of the action `meant`, and never that action:
// opening another product than the best, skipping an option or choosing a wrong value, buying too
// early, wandering off to sub-pages, other results or another search, clicking what is not there,
// an action without its form, or the last action without effect once more.
std::string WebShopMistake(const WebShopView& view, std::string_view meant, RandomStream& random);

// Any action that the page makes plausible.
std::string RandomWebShopAction(const WebShopView& view, RandomStream& random);

}  // namespace agentr
