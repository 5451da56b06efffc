// The built-in web shop: a seeded generator of catalogues of any size, with our own words.
//
// Product i depends only on (seed, i): a shop of 2,000 begins with the shop of 1,000, for any
// number of threads. Products come in groups of near-duplicates (shop_group.h). About four in five
// have an instruction, which gives on average ten goals per product of the shop; about one in three
// has instructions of a "person". The words are in configs/webshop.
//
// Uses the threads of the oneTBB arena in which it is called. 1,200,000 products take about 1 KB of
// memory each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "games/webshop/catalogue.h"

namespace agentr {

inline constexpr size_t kDefaultShopSize = 1000;
inline constexpr uint64_t kDefaultShopSeed = 1;

Catalogue GenerateShop(size_t count, uint64_t seed);

}  // namespace agentr
