#include "games/webshop/goals.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "small_shop.h"

namespace agentr {
namespace {

using testing::SmallShopFiles;
using Json = nlohmann::json;

// The golden was made by Python (its first field has the command), from the same files.
Json Golden() {
  return Json::parse(
      ReadFile(std::filesystem::path(AGENTR_SOURCE_DIR) / "tests/golden/webshop_goals.json"));
}

Json AsJson(const ShopGoal& goal) {
  Json options = Json::array();
  for (const GoalOption& option : goal.options) {
    options.push_back({std::string(option.name), std::string(option.value)});
  }
  Json attributes = Json::array();
  for (const std::string_view text : goal.attributes) attributes.push_back(std::string(text));
  return {{"asin", std::string(goal.product->asin)},
          {"text", goal.text},
          {"attributes", attributes},
          {"options", options},
          {"limit", goal.price_limit}};
}

void ExpectEqual(const ShopGoals& goals, const Json& golden) {
  ASSERT_EQ(goals.size(), golden.size());
  for (size_t i = 0; i < goals.size(); ++i)
    EXPECT_EQ(AsJson(goals.At(i)), golden[i]) << "goal " << i;
}

TEST(ShopGoals, SyntheticOnesAreThoseOfPython) {
  const Catalogue catalogue = ReadShopFiles(SmallShopFiles());
  ExpectEqual(ShopGoals(catalogue, /*human=*/false), Golden().at("synthetic"));
}

TEST(ShopGoals, HumanOnesAreThoseOfPython) {
  const Catalogue catalogue = ReadShopFiles(SmallShopFiles());
  ExpectEqual(ShopGoals(catalogue, /*human=*/true), Golden().at("human"));
}

TEST(ShopGoals, AreDrawnByTheirWeights) {
  const Catalogue catalogue = ReadShopFiles(SmallShopFiles());
  const ShopGoals goals(catalogue, /*human=*/false);
  // By hand: how many goals want an attribute, then the mean of 1/that over a goal's attributes.
  std::map<std::string_view, double> wanted;
  for (size_t i = 0; i < goals.size(); ++i) {
    for (const auto attribute : goals.At(i).attributes) ++wanted[attribute];
  }
  std::vector<double> weights;
  double sum = 0;
  for (size_t i = 0; i < goals.size(); ++i) {
    double weight = 0;
    for (const auto attribute : goals.At(i).attributes) weight += 1 / wanted[attribute];
    weights.push_back(weight / static_cast<double>(goals.At(i).attributes.size()));
    sum += weights.back();
  }
  constexpr int kDraws = 200'000;
  std::vector<int> drawn(goals.size());
  for (int i = 0; i < kDraws; ++i) ++drawn[goals.Draw((i + 0.5) / kDraws)];
  for (size_t i = 0; i < goals.size(); ++i) {
    EXPECT_NEAR(drawn[i], kDraws * weights[i] / sum, 1.5) << i;
  }
  EXPECT_EQ(goals.Draw(0), 0u);
  EXPECT_EQ(goals.Draw(0x1.fffffffffffffp-1), goals.size() - 1);
}

TEST(ShopGoals, HumanOnesWeighTheSame) {
  const Catalogue catalogue = ReadShopFiles(SmallShopFiles());
  const ShopGoals goals(catalogue, /*human=*/true);
  for (size_t i = 0; i < goals.size(); ++i) {
    EXPECT_EQ(goals.Draw((static_cast<double>(i) + 0.5) / static_cast<double>(goals.size())), i);
  }
}

}  // namespace
}  // namespace agentr
