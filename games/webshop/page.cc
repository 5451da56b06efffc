#include "games/webshop/page.h"

#include <algorithm>

#include "common/python_text.h"

namespace agentr {

namespace {

// The original's HTML parser turns white space with line breaks into one line break, which is
// skipped; other white space is an empty piece.
bool IsPassedOver(std::string_view text) {
  if (text.empty()) return true;
  return text.find_first_not_of(" \t\n\f\r") == std::string_view::npos &&
         text.find('\n') != std::string_view::npos;
}

}  // namespace

std::string PageText(const ShopPage& page) {
  std::string text;
  bool first = true;
  for (const PagePiece& piece : page.pieces) {
    if (IsPassedOver(piece.text)) continue;
    if (!first) text += " [SEP] ";
    first = false;
    text += PythonStrip(piece.text);
  }
  return text;
}

std::vector<std::string> Clickables(const ShopPage& page) {
  std::vector<std::string> clickables;
  for (const PieceKind kind :
       {PieceKind::kButton, PieceKind::kProductLink, PieceKind::kOptionValue}) {
    for (const PagePiece& piece : page.pieces) {
      if (piece.kind != kind) continue;
      std::string name = PythonLower(piece.text);
      if (std::ranges::find(clickables, name) == clickables.end()) {
        clickables.push_back(std::move(name));
      }
    }
  }
  return clickables;
}

}  // namespace agentr
