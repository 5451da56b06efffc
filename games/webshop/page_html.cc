// The HTML of a page. Between tags there are only line breaks, so the text nodes of the document
// are the pieces of the page.
#include <fmt/format.h>

#include <iterator>

#include "common/text.h"
#include "games/webshop/page.h"

namespace agentr {
namespace {

constexpr std::string_view kStyle = R"(
body{margin:0;background:#f4f5f7;color:#1d2129;font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem}
h1{margin:.2rem 0 1rem;color:#17415f}
h3{margin:1.2rem 0 .3rem;font-size:1rem;text-transform:capitalize}
#instruction-text{padding:.8rem 1.2rem;background:#fff8e1;border-left:.3rem solid #f0b429}
#instruction-text h4{margin:0;font-weight:normal}
form{display:inline}
.btn{margin:.8rem .4rem .4rem 0;padding:.45rem 1rem;border:0;border-radius:.4rem;background:#17415f;
 color:#fff;font:inherit;cursor:pointer}
.btn.buy{background:#d9622b}
#search_input{width:60%;padding:.5rem;border:1px solid #b5bcc6;border-radius:.4rem;font:inherit}
.product-link{display:block;margin-top:1rem;padding-top:1rem;border-top:1px solid #d9dde3;
 color:#1a6fb0;font-weight:bold}
.title{margin:.2rem 0;font-size:1.1rem}
.price{margin:.2rem 0;color:#a8321c;font-weight:bold}
label{display:inline-block;margin:.15rem;padding:.2rem .7rem;border:1px solid #b5bcc6;
 border-radius:1rem;background:#fff;cursor:pointer}
input[type=radio]{position:absolute;opacity:0}
input[type=radio]:checked+label{border-color:#17415f;background:#dcebf5;font-weight:bold}
p{white-space:pre-wrap;overflow-wrap:anywhere}
)";

class HtmlWriter {
 public:
  std::string Write(const ShopPage& page) {
    out_ = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
        "charset=\"utf-8\">\n<title>WebShop</title>\n"
        "<style>{}</style>\n</head>\n<body>\n<main>\n",
        kStyle);
    for (size_t i = 0; i < page.pieces.size(); ++i) {
      // The instruction is a heading of two pieces; its text follows its label.
      if (page.pieces[i].kind == PieceKind::kInstruction) {
        WriteInstruction(page.pieces[i].text, page.pieces[i + 1].text);
        ++i;
      } else {
        WritePiece(page.pieces[i], page.has_search_bar);
      }
    }
    out_ += "</main>\n</body>\n</html>\n";
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void Put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void WriteInstruction(std::string_view label, std::string_view text) {
    Put("<div id=\"instruction-text\"><h4>{}<br>{}</h4></div>\n", EscapeHtml(label),
        EscapeHtml(text));
  }

  void WriteButton(const std::string& text, bool has_search_bar) {
    if (has_search_bar) {
      Put("<form><input id=\"search_input\" name=\"search_query\" placeholder=\"Search\">"
          "<button class=\"btn\" type=\"submit\">{}</button></form>\n",
          EscapeHtml(text));
    } else {
      Put("<form><button class=\"btn{}\" type=\"submit\">{}</button></form>\n",
          text == "Buy Now" ? " buy" : "", EscapeHtml(text));
    }
  }

  void WriteOption(const PagePiece& piece) {
    const std::string value = EscapeHtml(piece.text);
    Put("<input type=\"radio\" id=\"radio_{0}\" name=\"{1}\" value=\"{2}\"{3}>"
        "<label for=\"radio_{0}\">{2}</label>\n",
        radios_++, option_, value, piece.chosen ? " checked" : "");
  }

  void WritePiece(const PagePiece& piece, bool has_search_bar) {
    switch (piece.kind) {
      case PieceKind::kHeading:
        return Put("<h1>{}</h1>\n", EscapeHtml(piece.text));
      case PieceKind::kButton:
        return WriteButton(piece.text, has_search_bar);
      case PieceKind::kProductLink:
        return Put("<a class=\"product-link\" href=\"#\">{}</a>\n", EscapeHtml(piece.text));
      case PieceKind::kTitle:
        return Put("<h2 class=\"title\">{}</h2>\n", EscapeHtml(piece.text));
      case PieceKind::kPrice:
        return Put("<p class=\"price\">{}</p>\n", EscapeHtml(piece.text));
      case PieceKind::kOptionName:
        option_ = EscapeHtml(piece.text);
        return Put("<h3>{}</h3>\n", option_);
      case PieceKind::kOptionValue:
        return WriteOption(piece);
      case PieceKind::kInstruction:
      case PieceKind::kText:
        return Put("<p>{}</p>\n", EscapeHtml(piece.text));
    }
  }

  std::string out_;
  std::string option_;  // the option's name for the following values
  int radios_ = 0;
};

}  // namespace

std::string PageHtml(const ShopPage& page) { return HtmlWriter().Write(page); }

}  // namespace agentr
