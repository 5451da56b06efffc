// A page of the shop as a list of what it shows, from which come the text that an agent reads, what
// can be clicked, and the html; so these always agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

enum class PieceKind {
  kText,     // plain
  kHeading,  // of the page or of a part of it
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
  std::string text;     // as the catalogue has it: not stripped, html in it is text
  bool chosen = false;  // an option value that is chosen

  friend bool operator==(const PagePiece&, const PagePiece&) = default;
};

struct ShopPage {
  bool has_search_bar = false;
  std::vector<PagePiece> pieces;

  void Add(PieceKind kind, std::string_view text) { pieces.push_back({kind, std::string(text)}); }
};

// Pieces without their outer white space, joined by " [SEP] ". One that is empty, or white space
// with a line break, is passed over.
std::string PageText(const ShopPage& page);

// What click[…] takes: buttons, products, option values, in this order, lower case, each once.
std::vector<std::string> Clickables(const ShopPage& page);

// A complete html document; its visible text nodes are the pieces. Ids and classes that programs
// look for are WebShop's: search_input, btn, product-link, instruction-text, radio inputs.
std::string PageHtml(const ShopPage& page);

}  // namespace agentr
