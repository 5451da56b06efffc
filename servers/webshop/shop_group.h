// Near-duplicates of the built-in web shop: three to five products in a row that share kind, brand
// and most of their text, so that choosing between them matters.
//
// The members of a group differ in one attribute, their own; some have the own attribute of the
// first member and differ from it in the values of an option, or in pack and price. At least two
// members differ in an attribute. A block of 20 products holds five groups, in an order drawn per
// block; kinds come in rounds, each kind once in a round, in an order drawn per round. So a group
// depends on the seed and its place alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/random.h"
#include "servers/webshop/shop_kinds.h"

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
  double last = 0;  // of a range, above first
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
  std::vector<const ShopAttribute*> core;      // what all members have
  std::vector<const ShopAttribute*> in_title;  // of the core
  std::vector<std::string> bullets;            // of all members
  std::string_view own_bullet;                 // pattern of the bullet on the own attribute
  size_t own_bullet_place = 0;
  bool own_in_title = false;  // at least one of these two
  bool own_in_bullets = false;
  std::string description;
  std::vector<ShopMember> members;
};

// The sizes of the groups of a block, in order.
std::array<size_t, 5> GroupSizes(const RandomStream& shop, uint64_t block);

// Group `number` (0, 1, … through the whole shop), of `size` members.
ShopGroup DrawGroup(const RandomStream& shop, uint64_t number, size_t size);

// The text of a slot that needs no attributes: "brand", "material", "detail", "for", "pack".
std::string GroupSlot(const ShopGroup& group, const ShopMember& member, std::string_view slot);

// A bullet on an attribute.
std::string AttributeBullet(std::string_view pattern, const ShopAttribute& attribute,
                            RandomStream& random);

}  // namespace agentr
