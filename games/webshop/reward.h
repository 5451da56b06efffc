// The reward of a purchase: r_type * (attributes met + options met + [price within the limit]) /
// (attributes wanted + options wanted + 1), in [0, 1].
//
// r_type is normally 1. It is 0.5 for another kind of product (another query, fewer than two common
// levels of the category, and at most a fifth of the wanted title's nouns), 0.1 with less than a
// tenth of those nouns, and 0 with none of them. A wanted attribute is met by a similar attribute
// of the product (TokenSetRatio above 85), or if the title, the bullets or the description contain
// it. A wanted option is met by a similar chosen value, after values that contain a base colour
// (configs/webshop/colors.txt) are replaced by that colour.
//
// Source: WebShop (Yao et al. 2022), section 3.1 and its published code, with equal bits. The
// original finds nouns with a statistical tagger; our TitleNouns (title_nouns.h) is an
// approximation.
#pragma once

#include "games/webshop/catalogue.h"
#include "games/webshop/goals.h"

namespace agentr {

// The parts of a reward, as an explanation for people.
struct ShopReward {
  double reward = 0;

  double type = 0;  // r_type: 1, 0.5, 0.1 or 0
  bool same_query = false;
  bool same_category = false;  // at least two common levels
  double title_score = 0;      // share of the nouns of the wanted product's title that occur

  int attributes_met = 0;
  int attributes_wanted = 0;
  int options_met = 0;
  int options_wanted = 0;
  bool price_met = false;
};

// The reward for buying `bought` with the `chosen` option values, under `goal`. Thread-safe.
ShopReward RewardOf(const Product& bought, Texts chosen, const ShopGoal& goal);

}  // namespace agentr
