#include "games/webshop/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "html_text.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

TEST(ShopPage, TextIsTheStrippedPieces) {
  ShopPage page;
  page.Add(PieceKind::kText, "  a  b\n");
  page.Add(PieceKind::kText, " ");
  page.Add(PieceKind::kButton, "< Prev");
  EXPECT_EQ(PageText(page), "a  b [SEP]  [SEP] < Prev");
  EXPECT_EQ(PageText(ShopPage{}), "");
}

TEST(ShopPage, WhiteSpaceWithALineBreakIsNoPiece) {
  ShopPage page;
  for (const char* text : {"", "\n", " \n", "\t\r\n ", "a", " ", "\t", "\u00a0\n", ""}) {
    page.Add(PieceKind::kTitle, text);
  }
  EXPECT_EQ(PageText(page), "a [SEP]  [SEP]  [SEP] ");
}

TEST(ShopPage, ClickablesAreButtonsThenProductsThenOptions) {
  ShopPage page;
  page.Add(PieceKind::kOptionValue, "red");
  page.Add(PieceKind::kProductLink, "B00X");
  page.Add(PieceKind::kButton, "Buy Now");
  page.Add(PieceKind::kOptionValue, "buy now");  // the button has its place already
  page.Add(PieceKind::kOptionValue, "red");
  page.Add(PieceKind::kText, "not this");
  EXPECT_THAT(Clickables(page), ElementsAre("buy now", "b00x", "red"));
}

TEST(ShopPage, HtmlShowsTextsAsTexts) {
  ShopPage page;
  page.Add(PieceKind::kInstruction, "Instruction:");
  page.Add(PieceKind::kText, "find <b>\"it\"</b> & 'go'");
  page.Add(PieceKind::kOptionName, "a\"b");
  page.Add(PieceKind::kOptionValue, "x<y>");
  page.pieces.back().chosen = true;
  page.Add(PieceKind::kText, " ");
  const std::string html = PageHtml(page);
  EXPECT_EQ(testing::TextOfHtml(html), PageText(page));
  EXPECT_THAT(html, ::testing::HasSubstr("value=\"x&lt;y&gt;\" checked"));
  EXPECT_THAT(html, ::testing::Not(::testing::HasSubstr("<b>")));
}

}  // namespace
}  // namespace agentr
