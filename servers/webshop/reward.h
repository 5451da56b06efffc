// What a purchase is worth: r_type * (attributes met + options met + [price within the limit]) /
// (attributes wanted + options wanted + 1), in [0, 1].
//
// r_type is 1; 0.5 for another kind of thing (another query, fewer than two common levels of the
// category, and at most a fifth of the wanted title's nouns); 0.1 with less than a tenth of those
// nouns; 0 with none of them.
// A wanted attribute is met by one of the product that is like it (TokenSetRatio above 85), or
// where the title, the bullets or the description contain it. A wanted option is met by a chosen
// value that is like it, after values that contain a base colour (configs/webshop/colors.txt)
// became that colour.
//
// Source: WebShop (Yao et al. 2022), section 3.1 and its published code, to the last bit. The
// tagger of nouns there is a statistical one; ours is TitleNouns (title_nouns.h), an approximation.
#pragma once

#include "servers/webshop/catalogue.h"
#include "servers/webshop/goals.h"

namespace agentr {

// The parts of a reward, for people who ask why.
struct ShopReward {
  double reward = 0;

  double type = 0;  // r_type: 1, 0.5, 0.1 or 0
  bool same_query = false;
  bool same_category = false;  // two levels or more
  double title_score = 0;      // share of the nouns of the wanted product's title

  int attributes_met = 0;
  int attributes_wanted = 0;
  int options_met = 0;
  int options_wanted = 0;
  bool price_met = false;
};

// For buying `bought`, with `chosen` values of its options, under `goal`. Thread-safe.
ShopReward RewardOf(const Product& bought, Texts chosen, const ShopGoal& goal);

}  // namespace agentr
