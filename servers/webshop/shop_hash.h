#pragma once

#include <string>
#include <string_view>

#include "servers/webshop/catalogue.h"

namespace agentr {

// Which instructions of a product make goals.
enum class GoalKind { kSynthetic, kHuman };

// SHA-256 over `options` and all products in order, with every field that pages, goals of this kind
// or rewards depend on: a chain of blocks.
std::string ShopHash(const Catalogue& catalogue, GoalKind goals, std::string_view options);

}  // namespace agentr
