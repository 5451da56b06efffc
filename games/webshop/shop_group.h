// Groups of near-duplicates in the built-in web shop: three to five consecutive products that share
// kind, brand and most of their text, so that the choice between them matters.
//
// Each member of a group has one own attribute by which it differs from the others; some have the
// first member's own attribute and differ from it in the values of an option, or in pack and price.
// At least two members differ in an attribute. A block of 20 products contains five groups, in an
// order drawn per block. Kinds come in rounds, each kind once per round, in an order drawn per
// round. So a group depends only on the seed and its position.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/random.h"
#include "games/webshop/shop_kinds.h"

namespace agentr {

inline constexpr size_t kShopBlock = 20;  // products

struct DraftOption {
  std::string_view name;
  std::vector<std::string_view> values;
  friend bool operator==(const DraftOption&, const DraftOption&) = default;
};

// Dollars and cents.
struct DraftPrice {
  bool ranged = false;
  double first = 0;
  double last = 0;  // end of a range, above first
};

struct ShopMember {
  const ShopAttribute* own = nullptr;
  std::string_view pack;
  std::vector<DraftOption> options;
  DraftPrice price;
};

struct ShopGroup {
  const ShopKind* kind = nullptr;
  std::string brand;
  std::string_view query, noun, material, detail, audience;
  std::string_view title;                      // a pattern of wording.txt
  std::vector<const ShopAttribute*> core;      // attributes of all members
  std::vector<const ShopAttribute*> in_title;  // core attributes in the title
  std::vector<std::string> bullets;            // of all members
  std::string_view own_bullet;                 // pattern of the bullet about the own attribute
  size_t own_bullet_place = 0;
  bool own_in_title = false;  // at least one of these two is true
  bool own_in_bullets = false;
  std::string description;
  std::vector<ShopMember> members;
};

// The sizes of the groups of a block, in order.
std::array<size_t, 5> GroupSizes(const RandomStream& shop, uint64_t block);

// Group `number` (0, 1, … in the whole shop) with `size` members.
ShopGroup DrawGroup(const RandomStream& shop, uint64_t number, size_t size);

// The text of a slot that does not need attributes: "brand", "material", "detail", "for", "pack".
std::string GroupSlot(const ShopGroup& group, const ShopMember& member, std::string_view slot);

// A bullet about an attribute.
std::string AttributeBullet(std::string_view pattern, const ShopAttribute& attribute,
                            RandomStream& random);

}  // namespace agentr
