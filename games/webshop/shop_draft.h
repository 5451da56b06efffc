// One product of the built-in web shop, before its texts are copied into a catalogue.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/random.h"
#include "games/webshop/shop_group.h"

namespace agentr {

struct DraftHumanInstruction {
  std::string text;
  std::vector<std::string_view> attributes;
  std::vector<std::string_view> options;
};

// The views point into the group or the built-in texts.
struct ProductDraft {
  std::string asin;
  std::string title;
  std::string image;  // "images/<asin>.jpg"
  std::vector<std::string> bullets;
  std::vector<std::string_view> attributes;
  double price = 0;         // dollars, within the member's range
  std::string instruction;  // empty if there is none
  std::vector<std::string_view> instruction_attributes;
  std::vector<DraftHumanInstruction> human_instructions;
};

// "B" and 9 characters of 0-9A-Z; different for every number below 36^9. `shop` as in GenerateShop.
std::string ShopAsin(const RandomStream& shop, uint64_t number);

// Product `number` of the shop, which is `member` of `group`.
ProductDraft DraftProduct(const RandomStream& shop, uint64_t number, const ShopGroup& group,
                          const ShopMember& member);

}  // namespace agentr
