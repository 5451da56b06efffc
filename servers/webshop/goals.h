// What shoppers are told to buy: the goals of a catalogue, in the order of WebShop's session ids.
//
// Synthetic goals (the default, as AgentGym's server): for each product with an instruction, one
// for each combination of its options (names sorted, values in order, the last name fastest). The
// price limit is the larger of two drawn from the first four multiples of 10 dollars (10 to 990)
// above the price; with fewer than two of those there is none. Human goals: for each instruction of
// a product that names attributes, one for each of those limits (four without a limit where there
// are fewer than two, as there). Then all are shuffled. Both draws are those of Python's generator
// seeded with 233, so that with WebShop's own files goal n is session n of the public server.
//
// A goal takes 12 bytes; its texts are made on demand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "servers/webshop/catalogue.h"

namespace agentr {

// An option a goal asks for.
struct GoalOption {
  std::string_view name;  // empty for a human goal, which names values alone
  std::string_view value;
};

// One goal, spelled out. Its views live as long as the catalogue.
struct ShopGoal {
  static constexpr double kNoLimit = 1'000'000;

  const Product* product = nullptr;  // one that answers it in full
  std::string text;                  // the instruction, with options and price limit
  Texts attributes;                  // wanted; never empty
  std::vector<GoalOption> options;
  double price_limit = kNoLimit;  // dollars
};

class ShopGoals {
 public:
  // `human`: goals from the instructions of people, else synthetic ones.
  ShopGoals(const Catalogue& catalogue, bool human);

  size_t size() const { return goals_.size(); }
  ShopGoal At(size_t number) const;

  // A goal by weight: the mean over its attributes of 1 / (number of goals that want it); human
  // goals weigh the same. `draw` in [0, 1).
  size_t Draw(double draw) const;

 private:
  struct Packed {
    uint32_t product;
    uint32_t which;  // synthetic: number of the combination; human: of the instruction
    uint32_t limit;  // dollars; 0: none
  };

  void AddSynthetic();
  void AddHuman();
  void Weigh();
  // Of each synthetic goal, by its product.
  std::vector<double> WeightsOfProducts() const;
  Texts Attributes(const Packed& goal) const;

  // Combination number `which` of the product's options, by name.
  static std::vector<GoalOption> Combination(const Product& product, uint32_t which);

  const Catalogue& catalogue_;
  const bool human_;
  std::vector<Packed> goals_;
  std::vector<double> weights_up_to_;  // running sums
};

}  // namespace agentr
