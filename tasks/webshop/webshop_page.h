// Reads WebShop's pages as text. Pure functions; views point into the text that was read.
//
// A page is its pieces joined by " [SEP] ". Nothing marks what a piece is, so pages are read from
// the pieces that are always there: an item page by its end (title, price, rating, buttons), the
// results by threes behind "Next >". The text of a title or description cannot mislead these; only
// options have to be guessed (SplitOptions).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

enum class WebShopPageKind { kOther, kStart, kResults, kItem, kSubpage, kDone };

struct WebShopProduct {
  std::string_view id;  // "B07XYZ1234"
  std::string_view title;
  std::string_view price_tag;  // "$12.5" | "$10.0 to $20.0"
};

struct WebShopOption {
  std::string_view name;
  std::vector<std::string_view> values;
};

struct WebShopPage {
  WebShopPageKind kind = WebShopPageKind::kOther;
  std::string_view instruction;  // not on a done page
  // Of results; products beyond the last page: none.
  int number = 0;
  int total = 0;
  std::vector<WebShopProduct> products;
  // Of an item; `product.id` is not on its page.
  WebShopProduct product;
  std::vector<WebShopOption> options;
  // Of a done page.
  double reward = 0;

  std::vector<std::string_view> pieces;  // all of them, in order

  // Whether a piece, in lower case, is `value` (of ASCII in lower case).
  bool Shows(std::string_view value) const;
};

std::vector<std::string_view> SplitPieces(std::string_view text);

// True if the shop cannot do anything about `action` on the page `text`: it has not the form of an
// action, is neither search nor click, or clicks what is not on the page. A click that is not in
// ASCII may always do something, for the shop lower-cases Unicode.
bool IsIdle(std::string_view text, std::string_view action);

WebShopPage ReadWebShopPage(std::string_view text);

// Options from the pieces between "< Prev" and the title, where names and values look alike. A
// piece is a name if it comes first; or if it is a name that `wanted` (the names in the
// instruction) or the shop's common ones tell, does not follow a name directly, and has not been a
// name before. What is no name is a value of the name before it. So an uncommon name, and the
// values behind it, may be taken for values of the option before.
std::vector<WebShopOption> SplitOptions(std::span<const std::string_view> pieces,
                                        std::span<const std::string_view> wanted);

// The lowest price of a tag, in dollars; nothing when it is none.
std::optional<double> LowestPrice(std::string_view price_tag);

}  // namespace agentr
