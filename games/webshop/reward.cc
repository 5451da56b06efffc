#include "games/webshop/reward.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "common/python_text.h"
#include "games/webshop/title_nouns.h"
#include "games/webshop/token_set_ratio.h"
#include "games/webshop/word_list.h"

namespace agentr {
namespace embedded {
extern const std::string_view kBaseColors;
}  // namespace embedded

namespace {

bool IsLike(std::string_view text, std::string_view wanted) {
  return TokenSetRatio(text, wanted) > 85;
}

// The first base colour that `fits`, or `otherwise`.
template <typename Fits>
std::string_view FirstBaseColor(Fits fits, std::string_view otherwise) {
  static const std::vector<std::string_view> colors = ListedWords(embedded::kBaseColors);
  const auto found = std::ranges::find_if(colors, fits);
  return found == colors.end() ? otherwise : *found;
}

std::string_view PlainValue(std::string_view value) {
  return FirstBaseColor(
      [&](std::string_view color) { return value.find(color) != std::string_view::npos; }, value);
}

// The text with which chosen values are compared. A pair is a colour only if one of its texts is.
std::string WantedText(const GoalOption& option) {
  if (option.name.empty()) return std::string(PlainValue(option.value));
  const std::string_view color = FirstBaseColor(
      [&](std::string_view base) { return option.name == base || option.value == base; }, "");
  if (!color.empty()) return std::string(color);
  // As Python shows a pair: the letters and digits of escapes count (a no-break space becomes
  // "\xa0").
  return PythonRepr(option.name) + " " + PythonRepr(option.value);
}

int CountOptionsMet(Texts chosen, const std::vector<GoalOption>& wanted) {
  std::vector<std::string_view> values;
  std::ranges::transform(chosen, std::back_inserter(values), PlainValue);
  return static_cast<int>(std::ranges::count_if(wanted, [&](const GoalOption& option) {
    const std::string text = WantedText(option);
    return std::ranges::any_of(values, [&](std::string_view value) { return IsLike(value, text); });
  }));
}

int CountAttributesMet(const Product& bought, Texts wanted) {
  const std::array<std::string, 3> texts = {
      PythonLower(bought.title), PythonLower(fmt::format("{}", fmt::join(bought.bullets, " "))),
      PythonLower(bought.description)};
  return static_cast<int>(std::ranges::count_if(wanted, [&](std::string_view attribute) {
    return std::ranges::any_of(bought.attributes,
                               [&](std::string_view own) { return IsLike(own, attribute); }) ||
           std::ranges::any_of(texts, [&](const std::string& text) {
             return text.find(attribute) != std::string::npos;
           });
  }));
}

// True for two or more common levels at any position.
bool SameCategory(std::string_view a, std::string_view b) {
  const auto levels = [](std::string_view category) {
    static constexpr std::string_view kSeparator = "›";
    std::set<std::string_view> set;
    while (true) {
      const size_t end = category.find(kSeparator);
      set.insert(PythonStrip(category.substr(0, end)));
      if (end == std::string_view::npos) return set;
      category.remove_prefix(end + kSeparator.size());
    }
  };
  const auto of_a = levels(a);
  return std::ranges::count_if(levels(b), [&](auto level) { return of_a.contains(level); }) >= 2;
}

double TitleScore(std::string_view bought, std::string_view wanted) {
  const auto nouns = TitleNouns(wanted);
  if (nouns.empty()) return 0.2;
  const auto own = TitleNouns(bought);
  const std::set<std::string_view> distinct(nouns.begin(), nouns.end());
  const auto common = std::ranges::count_if(
      distinct, [&](std::string_view noun) { return std::ranges::find(own, noun) != own.end(); });
  return static_cast<double>(common) / static_cast<double>(nouns.size());
}

double TypeFactor(const ShopReward& reward) {
  if (reward.title_score == 0) return 0;
  if (reward.title_score < 0.1) return 0.1;
  const bool same_kind = reward.same_query || reward.same_category || reward.title_score > 0.2;
  return same_kind ? 1 : 0.5;
}

}  // namespace

ShopReward RewardOf(const Product& bought, Texts chosen, const ShopGoal& goal) {
  ShopReward reward;
  reward.same_query = bought.query == goal.product->query;
  reward.same_category = SameCategory(bought.product_category, goal.product->product_category);
  reward.title_score = TitleScore(bought.title, goal.product->title);
  reward.type = TypeFactor(reward);

  reward.attributes_wanted = static_cast<int>(goal.attributes.size());
  reward.attributes_met = CountAttributesMet(bought, goal.attributes);
  reward.options_wanted = static_cast<int>(goal.options.size());
  reward.options_met = CountOptionsMet(chosen, goal.options);
  reward.price_met = bought.price <= goal.price_limit;

  // Divides first, like the published code, which determines the last bit.
  const int met = reward.attributes_met + reward.options_met + (reward.price_met ? 1 : 0);
  const int wanted = reward.attributes_wanted + reward.options_wanted + 1;
  reward.reward = static_cast<double>(met) / wanted * reward.type;
  return reward;
}

}  // namespace agentr
