// The built-in web shop: a seeded generator of catalogues of any size, all words our own.
//
// Product i depends on (seed, i) alone: a shop of 2,000 begins with the shop of 1,000, and threads
// do not matter. Products come in groups of near-duplicates (shop_group.h). About four in five have
// an instruction, which makes ten goals for each product of the shop; about one in three has
// instructions of a "person". The words are in configs/webshop.
//
// Uses the threads of the oneTBB arena it is called in. 1,200,000 products take about 1 KB of
// memory each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "servers/webshop/catalogue.h"

namespace agentr {

inline constexpr size_t kDefaultShopSize = 1000;
inline constexpr uint64_t kDefaultShopSeed = 1;

Catalogue GenerateShop(size_t count, uint64_t seed);

}  // namespace agentr
