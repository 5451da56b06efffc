#include "tasks/webshop/webshop_mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tasks/webshop/webshop_action.h"
#include "tasks/webshop/webshop_planner.h"

namespace agentr {
namespace {

using Kind = WebShopPageKind;

enum class WebShopMistakeKind {
  kProduct,
  kPage,
  kSearch,
  kSkip,
  kValue,
  kBuy,
  kSubpage,
  kBack,
  kAbsent,
  kMalformed
};

// The frequency of each mistake by kind of page. The wrong product and the hasty purchase are the
// most frequent, because they lead to varied rewards.
WebShopMistakeKind DrawMistakeKind(Kind page, RandomStream& random) {
  static constexpr std::array kOnResults = {
      WebShopMistakeKind::kProduct, WebShopMistakeKind::kProduct, WebShopMistakeKind::kProduct,
      WebShopMistakeKind::kProduct, WebShopMistakeKind::kProduct, WebShopMistakeKind::kPage,
      WebShopMistakeKind::kSearch,  WebShopMistakeKind::kAbsent,  WebShopMistakeKind::kMalformed};
  static constexpr std::array kOnItem = {
      WebShopMistakeKind::kBuy,      WebShopMistakeKind::kBuy,   WebShopMistakeKind::kBuy,
      WebShopMistakeKind::kBuy,      WebShopMistakeKind::kValue, WebShopMistakeKind::kValue,
      WebShopMistakeKind::kSkip,     WebShopMistakeKind::kSkip,  WebShopMistakeKind::kSubpage,
      WebShopMistakeKind::kSubpage,  WebShopMistakeKind::kBack,  WebShopMistakeKind::kAbsent,
      WebShopMistakeKind::kMalformed};
  static constexpr std::array kOnSubpage = {WebShopMistakeKind::kBack, WebShopMistakeKind::kAbsent,
                                            WebShopMistakeKind::kMalformed};
  static constexpr std::array kElsewhere = {
      WebShopMistakeKind::kSearch, WebShopMistakeKind::kSearch, WebShopMistakeKind::kSearch,
      WebShopMistakeKind::kAbsent, WebShopMistakeKind::kMalformed};
  if (page == Kind::kResults) return random.Pick(kOnResults);
  if (page == Kind::kItem) return random.Pick(kOnItem);
  if (page == Kind::kSubpage) return random.Pick(kOnSubpage);
  return random.Pick(kElsewhere);
}

// Some of the key words, in their original order.
std::string SomeWords(const WebShopView& view, RandomStream& random) {
  std::string words;
  for (const std::string& word : view.key_words) {
    if (!random.Chance(0.4)) continue;
    words += words.empty() ? word : " " + word;
  }
  if (!words.empty()) return words;
  return view.key_words.empty() ? "gift" : random.Pick(view.key_words);
}

std::string Search(const WebShopView& view, RandomStream& random) {
  return fmt::format("search[{}]", SomeWords(view, random));
}

// Prefers the top of the list, like a reader who does not read on.
std::string OtherProduct(const WebShopView& view, RandomStream& random) {
  const auto& products = view.page.products;
  if (products.empty()) return Search(view, random);
  const size_t reach = random.Chance(0.7) ? std::min<size_t>(products.size(), 5) : products.size();
  return WebShopClick(products[random.Below(reach)].id);
}

std::string Subpage(RandomStream& random) {
  static constexpr std::array<std::string_view, 4> kSubpages = {"Description", "Features",
                                                                "Description", "Reviews"};
  return WebShopClick(random.Pick(kSubpages));
}

std::string AnyValue(const WebShopView& view, RandomStream& random) {
  std::vector<std::string_view> values;
  for (const WebShopOption& option : view.page.options) {
    values.insert(values.end(), option.values.begin(), option.values.end());
  }
  return WebShopClick(values.empty() ? "Buy Now" : random.Pick(values));
}

// The wanted value after the next one, or the purchase.
std::string SkipValue(const WebShopView& view) {
  const std::vector<std::string> missing = MissingChoices(view);
  return WebShopClick(missing.size() < 2 ? "Buy Now" : missing[1]);
}

// Buttons that shops have, but not this page.
std::string AbsentClick(const WebShopView& view, RandomStream& random) {
  static constexpr std::array<std::string_view, 6> kButtons = {
      "add to cart", "buy now", "next >", "checkout", "< prev", "size chart"};
  const std::string_view button = random.Pick(kButtons);
  return WebShopClick(view.page.Shows(button) ? "add to cart" : button);
}

std::string Malformed(std::string_view meant, RandomStream& random) {
  const std::optional<WebShopAction> read = ReadWebShopAction(meant);
  if (!read) return "wait";
  switch (random.Below(3)) {
    case 0:
      return fmt::format("{} {}", read->name, read->argument);
    case 1:
      return std::string(read->argument);
    default:
      return fmt::format("select[{}]", read->argument);
  }
}

std::string Make(WebShopMistakeKind mistake, const WebShopView& view, std::string_view meant,
                 RandomStream& random) {
  switch (mistake) {
    case WebShopMistakeKind::kProduct:
      return OtherProduct(view, random);
    case WebShopMistakeKind::kPage:
      return WebShopClick("Next >");
    case WebShopMistakeKind::kSearch:
      return Search(view, random);
    case WebShopMistakeKind::kSkip:
      return SkipValue(view);
    case WebShopMistakeKind::kValue:
      return AnyValue(view, random);
    case WebShopMistakeKind::kBuy:
      return WebShopClick("Buy Now");
    case WebShopMistakeKind::kSubpage:
      return Subpage(random);
    case WebShopMistakeKind::kBack:
      return WebShopClick(random.Chance(0.7) ? "< Prev" : "Back to Search");
    case WebShopMistakeKind::kAbsent:
      return AbsentClick(view, random);
    case WebShopMistakeKind::kMalformed:
      break;
  }
  return Malformed(meant, random);
}

}  // namespace

std::string WebShopMistake(const WebShopView& view, std::string_view meant, RandomStream& random) {
  // After an action without effect, repeating it is likely.
  if (view.wasted_turns > 0 && view.failed_action != meant && random.Chance(0.5)) {
    return view.failed_action;
  }
  std::string wrong = Make(DrawMistakeKind(view.page.kind, random), view, meant, random);
  // The mistake may happen to be the meant action; then draw again.
  return wrong == meant ? Malformed(meant, random) : wrong;
}

std::string RandomWebShopAction(const WebShopView& view, RandomStream& random) {
  const uint64_t draw = random.Below(20);
  const bool has_values = !view.page.options.empty();
  switch (view.page.kind) {
    case Kind::kResults:
      if (draw < 14 && !view.page.products.empty()) return OtherProduct(view, random);
      if (draw < 17) return WebShopClick(view.page.Shows("< prev") ? "< Prev" : "Next >");
      return draw < 19 ? Search(view, random) : WebShopClick("Back to Search");
    case Kind::kItem:
      if (draw < 10 && has_values) return AnyValue(view, random);
      if (draw < 15) return WebShopClick("Buy Now");
      return draw < 18 ? Subpage(random) : WebShopClick("< Prev");
    case Kind::kSubpage:
      return WebShopClick(draw < 18 ? "< Prev" : "Back to Search");
    case Kind::kStart:
    case Kind::kDone:
    case Kind::kOther:
      break;
  }
  return Search(view, random);
}

}  // namespace agentr
