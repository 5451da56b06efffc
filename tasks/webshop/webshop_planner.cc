#include "tasks/webshop/webshop_planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "tasks/webshop/webshop_action.h"

namespace agentr {
namespace {

using Kind = WebShopPageKind;

// Makes "shoe", "shoes" and "shoe's" the same word.
std::string_view Stem(std::string_view word) {
  if (word.ends_with("'s")) word.remove_suffix(2);
  if (word.size() > 3 && word.ends_with('s')) word.remove_suffix(1);
  return word;
}

// The share of the key words that occur in `title`.
double Overlap(const std::vector<std::string>& key_words, std::string_view title) {
  if (key_words.empty()) return 0;
  const std::vector<std::string> words = WebShopWords(title);
  const auto found = std::ranges::count_if(key_words, [&](const std::string& key) {
    return std::ranges::any_of(words, [&](const std::string& w) { return Stem(w) == Stem(key); });
  });
  return static_cast<double>(found) / static_cast<double>(key_words.size());
}

bool IsAffordable(const WebShopView& view, std::string_view price_tag) {
  const std::optional<double> price = LowestPrice(price_tag);
  return !view.goal.price_limit || !price || *price <= *view.goal.price_limit;
}

bool Offers(const WebShopPage& item, std::string_view value) {
  return std::ranges::any_of(item.options, [&](const WebShopOption& option) {
    return std::ranges::any_of(option.values,
                               [&](std::string_view v) { return WebShopKey(v) == value; });
  });
}

struct Judgement {
  bool right = true;  // affordable, and offers all wanted options
  double score = 0;
};

Judgement Judge(const WebShopView& view, const WebShopPage& item) {
  Judgement result;
  result.score = Overlap(view.key_words, item.product.title);
  const auto demand = [&](bool met) {
    result.right = result.right && met;
    result.score += met ? 1 : 0;
  };
  demand(IsAffordable(view, item.product.price_tag));
  for (const WebShopChoice& choice : view.goal.choices) {
    demand(Offers(item, WebShopKey(choice.value)));
  }
  return result;
}

const WebShopLook* LookAt(const WebShopView& view, const WebShopProduct& product) {
  const auto look = std::ranges::find(view.looks, WebShopKey(product.id), &WebShopLook::id);
  return look == view.looks.end() ? nullptr : &*look;
}

// The best product on `results` that was opened before, or nullptr.
const WebShopLook* BestLook(const WebShopView& view, const WebShopPage& results) {
  const WebShopLook* best = nullptr;
  double best_score = -1;
  for (const size_t i : RankProducts(view, results)) {
    const WebShopLook* look = LookAt(view, results.products[i]);
    if (look == nullptr) continue;
    const double score = Judge(view, look->page).score;
    if (score > best_score) best = look;
    best_score = std::max(best_score, score);
  }
  return best;
}

// The actions from the opening of a product to its purchase.
int ActionsToBuy(const WebShopView& view) { return static_cast<int>(view.goal.choices.size()) + 2; }

// The id of the next product on `results` worth a first look, or "". After the look there must be
// time to go back and buy another product.
std::string NextToOpen(const WebShopView& view, const WebShopPage& results) {
  const int way = view.page.kind == Kind::kItem ? 1 : 0;
  const bool in_time = way + 2 + ActionsToBuy(view) <= view.actions_left;
  if (view.looks.size() >= kMostLooks || (!view.looks.empty() && !in_time)) return "";
  for (const size_t i : RankProducts(view, results)) {
    const WebShopProduct& product = results.products[i];
    if (LookAt(view, product) == nullptr && IsAffordable(view, product.price_tag)) {
      return WebShopKey(product.id);
    }
  }
  return "";
}

std::string PlanSearch(const WebShopView& view) {
  // After an unsuccessful search, fewer words find more.
  const size_t all = view.key_words.size();
  const size_t count =
      std::max<size_t>(all >> std::min(view.searches, 8), std::min<size_t>(1, all));
  const auto words = std::span(view.key_words).first(count);
  return fmt::format("search[{}]",
                     all == 0 ? std::string("product") : fmt::format("{}", fmt::join(words, " ")));
}

std::string PlanResults(const WebShopView& view) {
  const WebShopPage& page = view.page;
  if (page.products.empty()) return WebShopClick(page.number > 1 ? "< Prev" : "Back to Search");
  const WebShopLook* best = BestLook(view, page);
  if (best != nullptr && Judge(view, best->page).right) return WebShopClick(best->id);
  const std::string next = NextToOpen(view, page);
  if (!next.empty()) return WebShopClick(next);
  if (best != nullptr) return WebShopClick(best->id);
  return WebShopClick(page.products[RankProducts(view, page).front()].id);
}

// True if another product in the results should be opened instead of the present one.
bool WantsAnother(const WebShopView& view) {
  const Judgement here = Judge(view, view.page);
  if (here.right || !view.item || view.looks[*view.item].id.empty()) return false;
  if (!NextToOpen(view, view.results).empty()) return true;
  if (1 + ActionsToBuy(view) > view.actions_left) return false;
  const WebShopLook* best = BestLook(view, view.results);
  return best != nullptr && Judge(view, best->page).score > here.score;
}

std::string PlanItem(const WebShopView& view) {
  if (WantsAnother(view)) return WebShopClick("< Prev");
  const std::vector<std::string> missing = MissingChoices(view);
  return WebShopClick(missing.empty() ? "Buy Now" : missing.front());
}

}  // namespace

std::string PlanWebShop(const WebShopView& view) {
  switch (view.page.kind) {
    case Kind::kResults:
      return PlanResults(view);
    case Kind::kItem:
      return PlanItem(view);
    case Kind::kSubpage:
      return WebShopClick("< Prev");
    case Kind::kStart:
    case Kind::kDone:
    case Kind::kOther:
      break;
  }
  return PlanSearch(view);
}

std::vector<size_t> RankProducts(const WebShopView& view, const WebShopPage& results) {
  std::vector<std::pair<bool, double>> worth;
  for (const WebShopProduct& product : results.products) {
    worth.emplace_back(IsAffordable(view, product.price_tag),
                       Overlap(view.key_words, product.title));
  }
  std::vector<size_t> order(worth.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return worth[a] > worth[b]; });
  return order;
}

std::vector<std::string> MissingChoices(const WebShopView& view) {
  std::vector<std::string> missing;
  for (const WebShopChoice& choice : view.goal.choices) {
    std::string value = WebShopKey(choice.value);
    const bool chosen = std::ranges::find(view.chosen, value) != view.chosen.end();
    if (!chosen && Offers(view.page, value)) missing.push_back(std::move(value));
  }
  return missing;
}

}  // namespace agentr
