// Reads WebShop's pages from text. Pure functions; string views point into the text that was read.
//
// A page is a list of pieces joined by " [SEP] ". The pieces are not labelled, so pages are read
// from the pieces that are always present: an item page from its end (title, price, rating,
// buttons), the results in groups of three after "Next >". The text of a title or description
// cannot confuse this; only options have to be guessed (SplitOptions).
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
  // Of a results page; a page number after the last page has no products.
  int number = 0;
  int total = 0;
  std::vector<WebShopProduct> products;
  // Of an item page, which does not show `product.id`.
  WebShopProduct product;
  std::vector<WebShopOption> options;
  // Of a done page.
  double reward = 0;

  std::vector<std::string_view> pieces;  // all of them, in order

  // True if a piece, in lower case, equals `value` (ASCII in lower case).
  bool Shows(std::string_view value) const;
};

std::vector<std::string_view> SplitPieces(std::string_view text);

// True if the shop cannot act on `action` on the page `text`: it is malformed, is neither search
// nor click, or clicks something that is not on the page. A click with non-ASCII text may always
// have an effect, because the shop lower-cases Unicode.
bool IsIdle(std::string_view text, std::string_view action);

// click[x] with x as the page `text` spells it: "click[Buy Now]" for "click[buy now]". Any other
// action, and a click on something that is not on the page, stays as it is.
std::string AsSpelledOnPage(std::string_view text, std::string_view action);

WebShopPage ReadWebShopPage(std::string_view text);

// Reads options from the pieces between "< Prev" and the title, where names and values look alike.
// A piece is a name if it comes first, or if it is in `wanted` (the names in the instruction) or
// among the shop's common names, does not directly follow a name, and has not occurred as a name
// before. Every other piece is a value of the name before it. So an uncommon name and its values
// may be mistaken for values of the previous option.
std::vector<WebShopOption> SplitOptions(std::span<const std::string_view> pieces,
                                        std::span<const std::string_view> wanted);

// The lowest price of a tag, in dollars; nullopt if it is not a price tag.
std::optional<double> LowestPrice(std::string_view price_tag);

}  // namespace agentr
