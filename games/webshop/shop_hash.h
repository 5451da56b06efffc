#pragma once

#include <string>
#include <string_view>

#include "games/webshop/catalogue.h"

namespace agentr {

// The kind of instructions from which goals are made.
enum class GoalKind { kSynthetic, kHuman };

// SHA-256 of `options` and all products in order, with every field that affects pages, goals of
// this kind or rewards; computed as a chain of blocks.
std::string ShopHash(const Catalogue& catalogue, GoalKind goals, std::string_view options);

}  // namespace agentr
