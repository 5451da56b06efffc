// What a purchase is worth: r_type * (attributes met + options met + [price within the limit]) /
// (attributes wanted + options wanted + 1), in [0, 1].
//
// Source: WebShop (Yao et al. 2022), section 3.1 and its published code. The tagger of nouns there
// is a statistical one; ours is TitleNouns (title_nouns.h), an approximation.
#pragma once

#include <span>
#include <string_view>

#include "servers/webshop/catalogue.h"
#include "servers/webshop/goals.h"

namespace agentr {

// The parts of a reward, for people who ask why.
struct ShopReward {
  double reward = 0;

  double type = 0;  // 1, 0.5, 0.1 or 0: whether it is the kind of thing that was wanted
  bool same_query = false;
  bool same_category = false;  // two levels or more
  double title_score = 0;      // share of the nouns of the wanted product's title

  int attributes_met = 0;
  int attributes_wanted = 0;
  int options_met = 0;
  int options_wanted = 0;
  bool price_met = false;
};

// For buying `bought`, with `chosen` values of its options, under `goal`.
ShopReward RewardOf(const Product& bought, Texts chosen, const ShopGoal& goal);

}  // namespace agentr
