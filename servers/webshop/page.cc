#include "servers/webshop/page.h"

#include <algorithm>
#include <array>
#include <span>

#include "servers/webshop/python_text.h"

namespace agentr {

std::string PageText(const ShopPage& page) {
  std::string text;
  for (size_t i = 0; i < page.pieces.size(); ++i) {
    if (i > 0) text += " [SEP] ";
    text += PythonStrip(page.pieces[i].text);
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
