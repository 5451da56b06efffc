#include "games/webshop/title_nouns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TitleNouns, KeepsNounsInOrderWithRepeats) {
  EXPECT_THAT(TitleNouns("Desk Lamp, Lamp Shade & Bulb"),
              ElementsAre("desk", "lamp", "lamp", "shade", "bulb"));
}

TEST(TitleNouns, LeavesOutStopWordsColoursAndSizes) {
  EXPECT_THAT(TitleNouns("The Blue Shirt for Men with a Pocket, X-Large (XXL, M, queen size)"),
              ElementsAre("shirt", "men", "pocket"));
}

TEST(TitleNouns, LeavesOutNumbersAndMeasures) {
  EXPECT_THAT(TitleNouns("3.5mm cable 6ft 2-pack 1,000 12oz 8 fl oz 4K (Pack of 2) 1080p"),
              ElementsAre("cable"));
}

TEST(TitleNouns, LeavesOutAttributes) {
  EXPECT_THAT(TitleNouns("Wireless Waterproof Portable Speaker, Powerful and Luminous, Festive"),
              ElementsAre("speaker"));
  EXPECT_THAT(TitleNouns("Padded, lightly scented fragrance-free BPA-free candle"),
              ElementsAre("candle"));
}

TEST(TitleNouns, LeavesOutCompoundsWithAnAttribute) {
  EXPECT_THAT(TitleNouns("long-lasting lipstick all-in-one anti-wrinkle oil-free"),
              ElementsAre("lipstick"));
}

TEST(TitleNouns, TakesOtherCompoundsApart) {
  EXPECT_THAT(TitleNouns("T-Shirt - USB-C flip-flops"),
              ElementsAre("shirt", "usb", "flip", "flops"));
  EXPECT_THAT(TitleNouns("make-up bag"), ElementsAre("make-up", "bag"));
}

TEST(TitleNouns, KeepsNounsThatEndLikeAttributes) {
  EXPECT_THAT(
      TitleNouns("table cable vegetable olive family seaweed bed jelly"),
      ElementsAre("table", "cable", "vegetable", "olive", "family", "seaweed", "bed", "jelly"));
}

TEST(TitleNouns, CutsPossessives) {
  EXPECT_THAT(TitleNouns("Women's Men’s girls' 'dress' L'Oreal"),
              ElementsAre("women", "men", "girls", "dress", "l'oreal"));
}

TEST(TitleNouns, SeparatesAtPunctuation) {
  EXPECT_THAT(TitleNouns("bag.Soft™ purse/wallet|【case】 2.5.belt–strap"),
              ElementsAre("bag", "purse", "wallet", "case", "belt", "strap"));
}

TEST(TitleNouns, LowersAndKeepsOtherScripts) {
  EXPECT_THAT(TitleNouns("CAFÉ Ñandú 日本 茶"), ElementsAre("café", "ñandú", "日本", "茶"));
}

TEST(TitleNouns, MayFindNone) {
  EXPECT_THAT(TitleNouns(""), IsEmpty());
  EXPECT_THAT(TitleNouns(" - ' . 12 -- a"), IsEmpty());
  EXPECT_THAT(TitleNouns("\xff\xc3"), IsEmpty());
}

}  // namespace
}  // namespace agentr
