// The goals of a catalogue, which tell shoppers what to buy, in the order of WebShop's session ids.
//
// Synthetic goals (the default, as on AgentGym's server): for each product with an instruction, one
// goal for each combination of its options (names sorted, values in order, the last name fastest).
// The price limit is the larger of two that are drawn from the first four multiples of 10 dollars
// (10 to 990) above the price; with fewer than two such multiples there is no limit. Human goals:
// for each instruction of a product with attributes, one goal for each of those limits (four
// without a limit if there are fewer than two, as in the original). Then all goals are shuffled.
// Both draws use Python's generator seeded with 233, so that with WebShop's own files goal n is
// session n of the public server.
//
// A goal takes 12 bytes; its texts are made when needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "games/webshop/catalogue.h"

namespace agentr {

// An option that a goal requires.
struct GoalOption {
  std::string_view name;  // empty for a human goal, which only has values
  std::string_view value;
};

// One goal with its texts. Its views live as long as the catalogue.
struct ShopGoal {
  static constexpr double kNoLimit = 1'000'000;

  const Product* product = nullptr;  // a product that satisfies it completely
  std::string text;                  // the instruction, with options and price limit
  Texts attributes;                  // wanted attributes; never empty
  std::vector<GoalOption> options;
  double price_limit = kNoLimit;  // dollars
};

class ShopGoals {
 public:
  // `human`: goals from instructions that people wrote, else synthetic ones.
  ShopGoals(const Catalogue& catalogue, bool human);

  size_t size() const { return goals_.size(); }
  ShopGoal At(size_t number) const;

  // Selects a goal by weight, which is the mean over its attributes of 1 / (number of goals that
  // want the attribute); human goals have equal weights. `draw` is in [0, 1).
  size_t Draw(double draw) const;

 private:
  struct Packed {
    uint32_t product;
    uint32_t which;  // synthetic: number of the combination; human: number of the instruction
    uint32_t limit;  // dollars; 0: none
  };

  void AddSynthetic();
  void AddHuman();
  void Weigh();
  // The weight of each product's synthetic goals.
  std::vector<double> WeightsOfProducts() const;
  Texts Attributes(const Packed& goal) const;

  // Combination number `which` of the product's options, sorted by name.
  static std::vector<GoalOption> Combination(const Product& product, uint32_t which);

  const Catalogue& catalogue_;
  const bool human_;
  std::vector<Packed> goals_;
  std::vector<double> weights_up_to_;  // running sums
};

}  // namespace agentr
