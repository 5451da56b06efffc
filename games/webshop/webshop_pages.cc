// The pages of WebShop: their pieces in order, with the original's words.
#include <fmt/format.h>

#include <algorithm>

#include "common/python_text.h"
#include "games/webshop/webshop.h"

namespace agentr {
namespace {

constexpr uint32_t kProductsOnPage = 10;

// The chosen options in the form of the original's templates: keys in order, with HTML characters
// escaped.
std::string HtmlSafeJson(std::vector<ShopChoice> choices) {
  std::ranges::sort(choices, {}, &ShopChoice::option);
  std::string json;
  for (const char c : ChoicesJson(choices)) {
    constexpr std::string_view kUnsafe = "<>&'";
    if (kUnsafe.find(c) == std::string_view::npos) {
      json += c;
    } else {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
  }
  return json;
}

}  // namespace

ShopPage WebShop::PageOf(const WebShopState& state) const {
  ShopPage page;
  if (state.place == ShopPlace::kDone) {
    AddDone(state, page);
    return page;
  }
  const bool start = state.place == ShopPlace::kStart;
  if (start) page.Add(PieceKind::kHeading, "WebShop");
  // Only the start page has a blank behind the label.
  page.Add(PieceKind::kInstruction, start ? "Instruction: " : "Instruction:");
  page.Add(PieceKind::kText, Instruction(state));
  if (start) {
    page.has_search_bar = true;
    page.Add(PieceKind::kButton, "Search");
    return page;
  }
  page.Add(PieceKind::kButton, "Back to Search");
  if (state.place == ShopPlace::kResults) AddResults(state, page);
  if (state.place == ShopPlace::kItem) AddItem(state, page);
  if (state.place == ShopPlace::kSubPage) AddSubPage(state, page);
  return page;
}

void WebShop::AddResults(const WebShopState& state, ShopPage& page) const {
  const std::vector<uint32_t>& found = state.results->products;
  page.Add(PieceKind::kHeading,
           fmt::format("Page {} (Total results: {})", state.page, found.size()));
  if (state.page > 1) page.Add(PieceKind::kButton, "< Prev");
  page.Add(PieceKind::kButton, "Next >");
  const size_t begin = std::min<size_t>(size_t{state.page - 1} * kProductsOnPage, found.size());
  const size_t end = std::min<size_t>(begin + kProductsOnPage, found.size());
  for (size_t i = begin; i < end; ++i) {
    const Product& product = At(found[i]);
    page.Add(PieceKind::kProductLink, product.asin);
    page.Add(PieceKind::kTitle, product.title);
    page.Add(PieceKind::kPrice, PriceTag(product));
  }
}

void WebShop::AddItem(const WebShopState& state, ShopPage& page) const {
  const Product& product = At(state.product);
  page.Add(PieceKind::kButton, "< Prev");
  for (const ProductOption& option : product.options) {
    page.Add(PieceKind::kOptionName, option.name);
    const auto choice = std::ranges::find(state.chosen, option.name, &ShopChoice::option);
    for (const std::string_view value : option.values) {
      page.Add(PieceKind::kOptionValue, value);
      page.pieces.back().chosen = choice != state.chosen.end() && choice->value == value;
    }
  }
  page.Add(PieceKind::kTitle, product.title);
  page.Add(PieceKind::kPrice, "Price: " + PriceTag(product));
  page.Add(PieceKind::kText, "Rating: N.A.");
  for (const std::string_view button : {"Description", "Features", "Reviews"}) {
    page.Add(PieceKind::kButton, button);
  }
  if (options_.show_attributes) page.Add(PieceKind::kButton, "Attributes");
  page.Add(PieceKind::kButton, "Buy Now");
}

void WebShop::AddSubPage(const WebShopState& state, ShopPage& page) const {
  const Product& product = At(state.product);
  page.Add(PieceKind::kButton, "< Prev");
  const auto add = [&](std::string_view text) { page.Add(PieceKind::kText, text); };
  if (state.sub_page == "Description") add(product.description);
  if (state.sub_page == "Features") {
    // A blank precedes each one, so an empty text is shown as an empty piece.
    for (const std::string_view bullet : product.bullets) add(" " + std::string(bullet));
  }
  if (state.sub_page == "Attributes") {
    for (const std::string_view attribute : product.attributes) add(" " + std::string(attribute));
    for (const std::string_view text :
         {product.category, product.query, product.product_category}) {
      add(text);
    }
  }
}

void WebShop::AddDone(const WebShopState& state, ShopPage& page) const {
  page.Add(PieceKind::kHeading, "Thank you for shopping with us!");
  const std::string choices = HtmlSafeJson(state.chosen);
  const std::string reward = PythonFloat(Reward(state).reward);
  for (const std::string_view text :
       std::initializer_list<std::string_view>{"Your code:",
                                               "None",
                                               "(Paste it in your MTurk interface.)",
                                               "Purchased",
                                               "asin",
                                               At(state.product).asin,
                                               "options",
                                               choices,
                                               "attrs",
                                               "None",
                                               "category",
                                               "None",
                                               "query",
                                               "None",
                                               "product category",
                                               "None",
                                               "Target",
                                               "asin",
                                               "options",
                                               "attrs",
                                               "price upper",
                                               "instuction text",
                                               "category",
                                               "product category",
                                               "query",
                                               "Goal",
                                               "None",
                                               "Reward",
                                               "Your score (min 0.0, max 1.0)",
                                               reward,
                                               "Reward Details",
                                               "None"}) {
    page.Add(PieceKind::kText, text);
  }
}

}  // namespace agentr
