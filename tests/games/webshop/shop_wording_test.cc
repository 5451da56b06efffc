#include "games/webshop/shop_wording.h"

#include <gtest/gtest.h>

#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

const ShopAttribute kFoldable{"foldable", "is", {"F."}};
const ShopAttribute kEasy{"easy to clean", "is", {"E."}};
const ShopAttribute kLid{"lid", "with a", {"L."}};
const ShopAttribute kSupport{"arch support", "with", {"S."}};
const ShopAttribute kCotton{"pure cotton", "made of", {"C."}};
const ShopAttribute kDyes{"artificial dyes", "made without", {"D."}};
const ShopAttribute kFeet{"wide feet", "for", {"W."}};
const ShopAttribute kBox{"gift box", "in a", {"G."}};

std::string Say(std::string_view slot, NounForm form, std::string_view noun,
                const std::vector<const ShopAttribute*>& attributes) {
  return ShopPhrase(form, noun, attributes).Slot(slot);
}

TEST(ShopWordingTest, ArticlesSuitTheSound) {
  EXPECT_EQ(WithArticle("lamp"), "a lamp");
  EXPECT_EQ(WithArticle("easy lamp"), "an easy lamp");
  EXPECT_EQ(WithArticle("usb plug"), "a usb plug");
  EXPECT_EQ(WithArticle("uv protected lamp"), "a uv protected lamp");
  EXPECT_EQ(WithArticle("8 ounce jar"), "an 8 ounce jar");
}

TEST(ShopWordingTest, NounsAreCountedAsTheyAre) {
  EXPECT_EQ(Say("a noun", NounForm::kOne, "umbrella", {}), "an umbrella");
  EXPECT_EQ(Say("a noun", NounForm::kMass, "shampoo", {}), "some shampoo");
  EXPECT_EQ(Say("a noun", NounForm::kPair, "jeans", {}), "a pair of jeans");
  EXPECT_EQ(Say("a noun", NounForm::kMany, "gummies", {}), "some gummies");
}

TEST(ShopWordingTest, AttributesStandAroundTheNoun) {
  EXPECT_EQ(Say("a what", NounForm::kOne, "box", {&kLid, &kEasy, &kFoldable}),
            "an easy to clean, foldable box with a lid");
  EXPECT_EQ(Say("what", NounForm::kPair, "boots", {&kFeet, &kLid, &kSupport, &kCotton}),
            "boots made of pure cotton with a lid and arch support for wide feet");
  EXPECT_EQ(Say("a what", NounForm::kMass, "tea", {&kBox, &kDyes}),
            "some tea made without artificial dyes in a gift box");
}

TEST(ShopWordingTest, ClausesAgreeWithTheNoun) {
  EXPECT_EQ(Say("that is", NounForm::kOne, "box", {&kLid, &kEasy, &kFoldable}),
            "that is easy to clean and foldable and comes with a lid");
  EXPECT_EQ(Say("it is", NounForm::kPair, "boots", {&kFeet, &kLid, &kSupport}),
            "they come with a lid and arch support and are meant for wide feet");
  EXPECT_EQ(Say("it is", NounForm::kOne, "shirt", {&kCotton, &kDyes, &kBox}),
            "it is made of pure cotton and made without artificial dyes and comes in a gift box");
}

TEST(ShopWordingTest, EmptySlotsLeaveNoTraces) {
  const auto slot = [](std::string_view name) { return std::string(name == "full" ? "x" : ""); };
  EXPECT_EQ(FillSlots("{full} {none} {full}", slot), "x x");
  EXPECT_EQ(FillSlots("{none} {full}, {none}, {full}, {none}", slot), "x, x");
  EXPECT_EQ(FillSlots("{full} - {none}, {full} - {none}", slot), "x - x");
  EXPECT_EQ(FillSlots("{full} ({full}{none})", slot), "x (x)");
  EXPECT_EQ(FillSlots("{full} {none}, but", slot), "x, but");
}

TEST(ShopWordingTest, Capitals) {
  EXPECT_EQ(TitleCase("brand bed pillow for the usb plug, t-shirt"),
            "Brand Bed Pillow for the USB Plug, T-Shirt");
  EXPECT_EQ(TitleCase("women's 32GB"), "Women's 32GB");
  EXPECT_EQ(Sentence("this hdmi cable"), "This HDMI cable");
}

TEST(ShopWordingTest, LabelsTellWithFromWithout) {
  EXPECT_EQ(AttributeLabel(kDyes), "no artificial dyes");
  EXPECT_EQ(AttributeLabel(kLid), "lid");
}

std::string ErrorOf(std::string_view text) {
  return FatalErrorOf(ExitCode::kFile, [&] { ParseShopWording(text, "w.txt"); });
}

TEST(ShopWordingTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(ErrorOf("x"), "w.txt:1: this line must come after a [section]");
  EXPECT_EQ(ErrorOf("# x\n[verses]"), "w.txt:2: unknown section: [verses]");
  EXPECT_EQ(ErrorOf("[titles]\nx\n\n[titles]\ny"), "w.txt:4: [titles] occurs twice");
  EXPECT_EQ(ErrorOf("[titles]\nx"), "w.txt:2: nothing under [attribute bullets]");
}

TEST(ShopWordingTest, ThereAreManyWaysToAsk) {
  EXPECT_GE(BuiltInShopWording().instructions.size(), 25u);
}

}  // namespace
}  // namespace agentr
