// Makes mistakes and random actions in WebShop, for scripted models.
#pragma once

#include <string>
#include <string_view>

#include "common/random.h"
#include "tasks/webshop/webshop_conversation.h"

namespace agentr {

// A typical mistake of a model instead of the action `meant`, never that action itself: opening
// another product than the best one, skipping an option or choosing a wrong value, buying too
// early, going to sub-pages, other results or another search, clicking something that is not on the
// page, a malformed action, or repeating the last action that had no effect.
std::string WebShopMistake(const WebShopView& view, std::string_view meant, RandomStream& random);

// Any action that is plausible on the page.
std::string RandomWebShopAction(const WebShopView& view, RandomStream& random);

}  // namespace agentr
