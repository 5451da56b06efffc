#include "tasks/webshop/webshop_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "tasks/webshop/webshop_action.h"

namespace agentr {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = WebShopPageKind;

const std::string kInstruction =
    "Instruction: [SEP] Find me a lamp with color: warm white, and finish: matte, and price lower "
    "than 50.00 dollars";
const std::string kHead = kInstruction + " [SEP] Back to Search";

TEST(WebShopAction, FollowsThePattern) {
  const auto expect = [](const char* text, const char* name, const char* argument) {
    const auto read = ReadWebShopAction(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->name, name) << text;
    EXPECT_EQ(read->argument, argument) << text;
  };
  expect("search[red shoes]", "search", "red shoes");
  expect("click[Buy Now] and done", "click", "Buy Now");
  expect("click[a]]", "click", "a]");
  expect("click[[a]", "click[", "a");
  expect("search[a] click[b]", "search[a] click", "b");
  expect("click[a]\nclick[b]", "click", "a");
  expect("click[ x ]", "click", " x ");
  expect("a[b][]", "a", "b][");
  for (const char* text : {"", "search", "search[]", "[a]", "]a[", "a]b[c", "click[a\n]", "a[b"}) {
    EXPECT_FALSE(ReadWebShopAction(text)) << text;
  }
}

TEST(WebShopPage, SplitsAtSeparators) {
  EXPECT_THAT(SplitPieces("a [SEP]  [SEP] b"), ElementsAre("a", "", "b"));
  EXPECT_THAT(SplitPieces("a[SEP]b"), ElementsAre("a[SEP]b"));
  EXPECT_THAT(SplitPieces(""), ElementsAre(""));
}

TEST(WebShopPage, Start) {
  const std::string text = "WebShop [SEP] " + kInstruction + " [SEP] Search";
  const WebShopPage page = ReadWebShopPage(text);
  EXPECT_EQ(page.kind, Kind::kStart);
  EXPECT_TRUE(page.instruction.starts_with("Find me a lamp"));
  EXPECT_TRUE(page.Shows("search"));
  EXPECT_FALSE(page.Shows("buy now"));
}

TEST(WebShopPage, Results) {
  const std::string text = kHead +
                           " [SEP] Page 1 (Total results: 50) [SEP] Next > [SEP] B012345678 [SEP] "
                           "Lamp, Page 3 [SEP] $12.5 [SEP] B0ABCDEFGH [SEP]  [SEP] $10.0 to $20.0";
  const WebShopPage page = ReadWebShopPage(text);
  EXPECT_EQ(page.kind, Kind::kResults);
  EXPECT_EQ(page.number, 1);
  EXPECT_EQ(page.total, 50);
  ASSERT_EQ(page.products.size(), 2u);
  EXPECT_EQ(page.products[0].id, "B012345678");
  EXPECT_EQ(page.products[0].title, "Lamp, Page 3");
  EXPECT_EQ(page.products[0].price_tag, "$12.5");
  EXPECT_EQ(page.products[1].title, "");
  EXPECT_EQ(LowestPrice(page.products[1].price_tag), 10.0);
  EXPECT_EQ(LowestPrice("dear"), std::nullopt);
}

TEST(WebShopPage, LaterResultsHaveAWayBack) {
  const std::string text = kHead +
                           " [SEP] Page 2 (Total results: 11) [SEP] < Prev [SEP] Next > [SEP] "
                           "B012345678 [SEP] Next > [SEP] $12.5";
  const WebShopPage page = ReadWebShopPage(text);
  EXPECT_EQ(page.kind, Kind::kResults);
  EXPECT_EQ(page.number, 2);
  ASSERT_EQ(page.products.size(), 1u);
  EXPECT_EQ(page.products[0].title, "Next >");
  const std::string behind = kHead + " [SEP] Page 3 (Total results: 11) [SEP] < Prev [SEP] Next >";
  EXPECT_EQ(ReadWebShopPage(behind).kind, Kind::kResults);
  EXPECT_THAT(ReadWebShopPage(behind).products, IsEmpty());
}

TEST(WebShopPage, ItemWithOptions) {
  // "finish" is no common name: the instruction tells it.
  const std::string text =
      kHead +
      " [SEP] < Prev [SEP] color [SEP] cold white [SEP] warm white [SEP] size [SEP] one size [SEP] "
      "finish [SEP] matte [SEP] glossy [SEP] Price: a lamp, Buy Now [SEP] Price: $12.5 to $20.0 "
      "[SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now";
  const WebShopPage page = ReadWebShopPage(text);
  EXPECT_EQ(page.kind, Kind::kItem);
  EXPECT_EQ(page.product.title, "Price: a lamp, Buy Now");
  EXPECT_EQ(page.product.price_tag, "$12.5 to $20.0");
  ASSERT_EQ(page.options.size(), 3u);
  EXPECT_EQ(page.options[0].name, "color");
  EXPECT_THAT(page.options[0].values, ElementsAre("cold white", "warm white"));
  EXPECT_EQ(page.options[1].name, "size");
  EXPECT_THAT(page.options[1].values, ElementsAre("one size"));
  EXPECT_EQ(page.options[2].name, "finish");
  EXPECT_THAT(page.options[2].values, ElementsAre("matte", "glossy"));
}

TEST(WebShopPage, ItemWithoutOptions) {
  const std::string text =
      kHead +
      " [SEP] < Prev [SEP] A lamp [SEP] Price: $12.5 [SEP] Rating: N.A. [SEP] "
      "Description [SEP] Features [SEP] Reviews [SEP] Attributes [SEP] Buy Now";
  const WebShopPage page = ReadWebShopPage(text);
  EXPECT_EQ(page.kind, Kind::kItem);
  EXPECT_EQ(page.product.title, "A lamp");
  EXPECT_THAT(page.options, IsEmpty());
}

TEST(WebShopPage, Subpages) {
  for (const char* rest : {" [SEP] < Prev", " [SEP] < Prev [SEP] A fine lamp.",
                           " [SEP] < Prev [SEP] One [SEP]  [SEP] Three", " [SEP] < Prev [SEP] ",
                           " [SEP] < Prev [SEP] Price: $3 [SEP] Buy Now"}) {
    EXPECT_EQ(ReadWebShopPage(kHead + rest).kind, Kind::kSubpage) << rest;
  }
}

TEST(WebShopPage, Done) {
  const WebShopPage page = ReadWebShopPage(
      "Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] Reward [SEP] Your score "
      "(min 0.0, max 1.0) [SEP] 0.6666666666666666 [SEP] Reward Details [SEP] None");
  EXPECT_EQ(page.kind, Kind::kDone);
  EXPECT_DOUBLE_EQ(page.reward, 2.0 / 3);
  EXPECT_EQ(
      ReadWebShopPage("Thank you for shopping with us! [SEP] Your score (min 0.0, max 1.0)").reward,
      0);
}

TEST(WebShopPage, OtherTextsAreNone) {
  for (const std::string& text :
       {std::string(), std::string("Goal: craft stick."), std::string("Instruction:"), kInstruction,
        kInstruction + " [SEP] Search", kHead, "WebShop [SEP] " + kHead,
        kHead + " [SEP] Page one [SEP] Next >", "WebShop [SEP] " + kHead + " [SEP] < Prev"}) {
    EXPECT_EQ(ReadWebShopPage(text).kind, Kind::kOther) << text;
  }
}

std::vector<WebShopOption> Split(const std::vector<std::string_view>& pieces,
                                 const std::vector<std::string_view>& wanted = {}) {
  return SplitOptions(pieces, wanted);
}

TEST(SplitOptions, TellsNamesFromValues) {
  const auto names = [](const std::vector<WebShopOption>& options) {
    std::vector<std::string> out;
    for (const auto& o : options) out.push_back(fmt::format("{}:{}", o.name, o.values.size()));
    return out;
  };
  EXPECT_THAT(names(Split({"unheard of", "a", "b", "flavor name", "c"})),
              ElementsAre("unheard of:2", "flavor name:1"));
  EXPECT_THAT(names(Split({"size", "style", "size", "color", "blue"})),
              ElementsAre("size:2", "color:1"))
      << "a name needs a value, and comes once";
  EXPECT_THAT(names(Split({"size", "small", "finish", "matte"})), ElementsAre("size:3"));
  EXPECT_THAT(names(Split({"size", "small", "finish", "matte"}, {"finish"})),
              ElementsAre("size:1", "finish:1"));
  EXPECT_THAT(names(Split({"size", "2 count type", "4 oz"})), ElementsAre("size:2"))
      << "no name has digits";
  EXPECT_THAT(names(Split({})), IsEmpty());
}

}  // namespace
}  // namespace agentr
