// A page of the shop as a list of pieces. The text for the agent, the clickable values and the HTML
// are all made from this list, so they always agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

enum class PieceKind {
  kText,     // plain
  kHeading,  // of the page or a part of it
  kInstruction,
  kButton,
  kProductLink,  // an asin
  kTitle,        // of a product
  kPrice,
  kOptionName,
  kOptionValue,
};

struct PagePiece {
  PieceKind kind = PieceKind::kText;
  std::string text;     // as in the catalogue: not stripped, and HTML in it is plain text
  bool chosen = false;  // for an option value: it is chosen

  friend bool operator==(const PagePiece&, const PagePiece&) = default;
};

struct ShopPage {
  bool has_search_bar = false;
  std::vector<PagePiece> pieces;

  void Add(PieceKind kind, std::string_view text) { pieces.push_back({kind, std::string(text)}); }
};

// The pieces without their outer white space, joined by " [SEP] ". A piece that is empty, or white
// space with a line break, is skipped.
std::string PageText(const ShopPage& page);

// The values that click[…] accepts: buttons, products, option values, in this order, in lower case,
// each once.
std::vector<std::string> Clickables(const ShopPage& page);

// A complete HTML document, whose visible text nodes are the pieces. It has the ids and classes of
// WebShop that programs use: search_input, btn, product-link, instruction-text, radio inputs.
std::string PageHtml(const ShopPage& page);

}  // namespace agentr
