#include "games/webshop/goals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "common/error.h"
#include "common/python_random.h"
#include "common/text.h"

namespace agentr {
namespace {

constexpr uint64_t kSeed = 233;  // the original's seed of both draws
constexpr uint32_t kHighestLimit = 990;
constexpr size_t kLimits = 4;
constexpr uint64_t kMostGoalsOfAProduct = 10'000'000;

// The price limits that a goal may set: the first multiples of 10 dollars above the price.
std::vector<uint32_t> LimitsAbove(double price) {
  std::vector<uint32_t> limits;
  if (price >= kHighestLimit) return limits;
  auto limit = static_cast<uint32_t>(std::max(0.0, std::floor(price / 10)) * 10);
  for (limit += 10; limit <= kHighestLimit && limits.size() < kLimits; limit += 10) {
    limits.push_back(limit);
  }
  return limits;
}

std::vector<ProductOption> SortedOptions(const Product& product) {
  std::vector<ProductOption> options(product.options.begin(), product.options.end());
  std::ranges::sort(options, {}, &ProductOption::name);
  return options;
}

uint32_t CountCombinations(const Product& product) {
  uint64_t count = 1;
  for (const ProductOption& option : product.options) {
    count *= option.values.size();
    if (count > kMostGoalsOfAProduct) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("product {} has more than {} combinations of options, and each "
                                   "would be a goal; remove it from the products file",
                                   product.asin, kMostGoalsOfAProduct));
    }
  }
  return static_cast<uint32_t>(count);
}

}  // namespace

ShopGoals::ShopGoals(const Catalogue& catalogue, bool human)
    : catalogue_(catalogue), human_(human) {
  human ? AddHuman() : AddSynthetic();
  PythonRandom(kSeed).Shuffle(goals_);
  Weigh();
}

void ShopGoals::AddSynthetic() {
  PythonRandom random(kSeed);
  const auto products = catalogue_.products();
  for (uint32_t number = 0; number < products.size(); ++number) {
    const Product& product = products[number];
    if (!product.has_instruction || product.instruction_attributes.empty()) continue;
    uint32_t limit = 0;
    if (const auto limits = LimitsAbove(product.price); limits.size() >= 2) {
      limit = limits[std::ranges::max(random.Sample(limits.size(), 2))];
    }
    const uint32_t count = CountCombinations(product);
    for (uint32_t which = 0; which < count; ++which) goals_.push_back({number, which, limit});
  }
}

void ShopGoals::AddHuman() {
  const auto products = catalogue_.products();
  for (uint32_t number = 0; number < products.size(); ++number) {
    const Product& product = products[number];
    std::vector<uint32_t> limits = LimitsAbove(product.price);
    if (limits.size() < 2) limits.assign(kLimits, 0);
    for (uint32_t which = 0; which < product.human_instructions.size(); ++which) {
      if (product.human_instructions[which].attributes.empty()) continue;
      for (const uint32_t limit : limits) goals_.push_back({number, which, limit});
    }
  }
}

Texts ShopGoals::Attributes(const Packed& goal) const {
  const Product& product = catalogue_.products()[goal.product];
  return human_ ? product.human_instructions[goal.which].attributes
                : product.instruction_attributes;
}

std::vector<double> ShopGoals::WeightsOfProducts() const {
  const auto products = catalogue_.products();
  std::vector<double> goals_of(products.size());
  for (const Packed& goal : goals_) ++goals_of[goal.product];
  std::unordered_map<std::string_view, double> wanted;
  for (size_t i = 0; i < products.size(); ++i) {
    if (goals_of[i] == 0) continue;
    for (const auto attribute : products[i].instruction_attributes)
      wanted[attribute] += goals_of[i];
  }
  std::vector<double> weights(products.size());
  for (size_t i = 0; i < products.size(); ++i) {
    const Texts attributes = products[i].instruction_attributes;
    if (goals_of[i] == 0) continue;
    for (const auto attribute : attributes) weights[i] += 1 / wanted[attribute];
    weights[i] /= static_cast<double>(attributes.size());
  }
  return weights;
}

void ShopGoals::Weigh() {
  const std::vector<double> weights = human_ ? std::vector<double>() : WeightsOfProducts();
  double sum = 0;
  weights_up_to_.reserve(goals_.size());
  for (const Packed& goal : goals_) {
    sum += human_ ? 1 : weights[goal.product];
    weights_up_to_.push_back(sum);
  }
}

size_t ShopGoals::Draw(double draw) const {
  const auto at = std::ranges::upper_bound(weights_up_to_, draw * weights_up_to_.back());
  return std::min<size_t>(static_cast<size_t>(at - weights_up_to_.begin()), size() - 1);
}

ShopGoal ShopGoals::At(size_t number) const {
  const Packed& packed = goals_[number];
  const Product& product = catalogue_.products()[packed.product];
  ShopGoal goal{.product = &product, .text = {}, .attributes = Attributes(packed), .options = {}};
  if (human_) {
    const HumanInstruction& instruction = product.human_instructions[packed.which];
    goal.text = Trim(instruction.text, ".");
    for (const std::string_view value : instruction.options) goal.options.push_back({{}, value});
  } else {
    goal.text = product.instruction;
    goal.options = Combination(product, packed.which);
    std::string_view before = " with ";
    for (const GoalOption& option : goal.options) {
      fmt::format_to(std::back_inserter(goal.text), "{}{}: {}", before, option.name, option.value);
      before = ", and ";
    }
  }
  if (packed.limit > 0) {
    goal.price_limit = packed.limit;
    fmt::format_to(std::back_inserter(goal.text), ", and price lower than {}.00 dollars",
                   packed.limit);
  }
  return goal;
}

std::vector<GoalOption> ShopGoals::Combination(const Product& product, uint32_t which) {
  const std::vector<ProductOption> options = SortedOptions(product);
  std::vector<GoalOption> chosen(options.size());
  for (size_t i = options.size(); i-- > 0;) {
    const auto count = static_cast<uint32_t>(options[i].values.size());
    chosen[i] = {options[i].name, options[i].values[which % count]};
    which /= count;
  }
  return chosen;
}

}  // namespace agentr
