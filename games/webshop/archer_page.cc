#include "games/webshop/archer_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/python_text.h"
#include "games/webshop/archer_texts.h"

namespace agentr {
namespace {

constexpr int kShownProducts = 3;
constexpr int kHiddenTexts = 2;  // title and price of a product that is not shown
constexpr int kInstructionTexts = 2;

class ArcherWriter {
 public:
  ArcherWriter(bool start, std::string_view address) : start_(start), address_(address) {}

  void Write(const PagePiece& piece) {
    switch (piece.kind) {
      case PieceKind::kButton:
        text_ += fmt::format("\n[{}] ", piece.text);
        break;
      case PieceKind::kProductLink:
        if (++products_ <= kShownProducts) text_ += fmt::format("\n[{}] ", piece.text);
        since_product_ = 0;
        return;
      case PieceKind::kOptionValue:
        WriteOption(piece.text);
        break;
      default:
        WritePlain(piece.text);
    }
    ++since_product_;
  }

  std::string text() && { return std::move(text_); }

 private:
  void WriteOption(const std::string& value) {
    const bool chosen = address_.find(fmt::format("'{}'", value)) != std::string_view::npos;
    text_ += fmt::format("{}{}{}", chosen ? "[[" : "[", value, chosen ? "]]" : "]");
  }

  void WritePlain(const std::string& text) {
    const bool of_instruction = !start_ && plain_++ < kInstructionTexts;
    const bool of_hidden = products_ > kShownProducts && since_product_ < kHiddenTexts;
    if (!of_instruction && !of_hidden) text_ += fmt::format("\n{} ", text);
  }

  const bool start_;
  const std::string_view address_;
  std::string text_;
  int plain_ = 0;
  int products_ = 0;
  int since_product_ = 0;  // pieces after the last product link
};

}  // namespace

std::string ArcherText(const ShopPage& page, std::string_view address) {
  const auto score = std::ranges::find(page.pieces, archer::kScore, &PagePiece::text);
  if (score != page.pieces.end()) return fmt::format("{}: {}", score->text, (score + 1)->text);
  ArcherWriter writer(page.has_search_bar, address);
  for (const PagePiece& piece : page.pieces) {
    if (!PythonStrip(piece.text).empty()) writer.Write(piece);
  }
  return PythonUnescape(std::move(writer).text());
}

}  // namespace agentr
