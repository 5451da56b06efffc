#include "games/webshop/reward.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {
namespace {

using Words = std::vector<std::string_view>;

// What of a product counts.
struct Side {
  std::string_view title = "lamp";
  std::string_view query = "lamps";
  std::string_view category = "Home › Lighting › Lamps";
  Words attributes = {"easy clean"};
  Words bullets = {};
  std::string_view description = "";
  double price = 20;
  bool has_price_range = false;
};

// As it stands, everything is met: (1 attribute + 0 options + 1 price) / (1 + 0 + 1) * 1.
struct Case {
  std::string_view name;
  Side bought = {};
  Words chosen = {};
  Side wanted = {};
  Words attributes = {"easy clean"};
  std::vector<GoalOption> options = {};
  double limit = 30;

  double type = 1;
  int attributes_met = 1;
  int options_met = 0;
  bool price_met = true;
  double reward = 1;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Product ProductOf(const Side& side) {
  Product product;
  product.title = side.title;
  product.query = side.query;
  product.product_category = side.category;
  product.attributes = side.attributes;
  product.bullets = side.bullets;
  product.description = side.description;
  product.has_price_range = side.has_price_range;
  product.first_price = 10;
  product.last_price = 90;
  product.price = side.price;
  return product;
}

Product ProductOf(Side&&) = delete;  // a product views its texts

class Reward : public ::testing::TestWithParam<Case> {};

TEST_P(Reward, IsWhatTheCaseSays) {
  const Case& c = GetParam();
  const Product bought = ProductOf(c.bought);
  const Product wanted = ProductOf(c.wanted);
  ShopGoal goal;
  goal.product = &wanted;
  goal.attributes = c.attributes;
  goal.options = c.options;
  goal.price_limit = c.limit;

  const ShopReward reward = RewardOf(bought, c.chosen, goal);
  EXPECT_EQ(reward.type, c.type);
  EXPECT_EQ(reward.attributes_met, c.attributes_met);
  EXPECT_EQ(reward.attributes_wanted, static_cast<int>(c.attributes.size()));
  EXPECT_EQ(reward.options_met, c.options_met);
  EXPECT_EQ(reward.options_wanted, static_cast<int>(c.options.size()));
  EXPECT_EQ(reward.price_met, c.price_met);
  EXPECT_EQ(reward.reward, c.reward);
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return std::string(info.param.name);
}

// The kind of thing. Its titles are nouns alone, so that their share is easy to count. `kElse` is
// of another query and category.
constexpr std::string_view kElse = "else";
constexpr std::string_view kFive = "lamp desk chair sofa mug";
constexpr std::string_view kTen = "lamp desk chair sofa mug kettle towel pillow basket mirror";
constexpr std::string_view kEleven =
    "lamp desk chair sofa mug kettle towel pillow basket mirror vase";

const Case kTypes[] = {
    {.name = "SameInAll"},
    {.name = "TitleAlone", .bought = {.query = kElse, .category = kElse}},  // 1 of 1 > 0.2
    {.name = "TitleAboveAFifth",                                            // 1 of 4 > 0.2
     .bought = {.query = kElse, .category = kElse},
     .wanted = {.title = "lamp desk chair sofa"}},
    {.name = "TitleAFifth",  // 1 of 5 is not above 0.2
     .bought = {.query = kElse, .category = kElse},
     .wanted = {.title = kFive},
     .type = 0.5,
     .reward = 0.5},
    {.name = "TitleAFifthAsThreeOfFifteen",  // 3 / 15 is 0.2 in doubles too
     .bought = {.title = "lamp desk chair", .query = kElse, .category = kElse},
     .wanted = {.title =
                    "lamp desk chair sofa mug kettle towel pillow basket mirror vase rug clock "
                    "candle curtain"},
     .type = 0.5,
     .reward = 0.5},
    {.name = "TitleAFifthSameQuery", .bought = {.category = kElse}, .wanted = {.title = kFive}},
    {.name = "TitleAFifthSameCategory", .bought = {.query = kElse}, .wanted = {.title = kFive}},
    {.name = "TitleATenth",  // 1 of 10 is not below 0.1
     .bought = {.query = kElse, .category = kElse},
     .wanted = {.title = kTen},
     .type = 0.5,
     .reward = 0.5},
    {.name = "TitleATenthSameQuery", .wanted = {.title = kTen}},
    {.name = "TitleBelowATenth",  // 1 of 11
     .bought = {.query = kElse, .category = kElse},
     .wanted = {.title = kEleven},
     .type = 0.1,
     .reward = 0.1},
    {.name = "TitleBelowATenthSameInAll",  // query and category do not help
     .wanted = {.title = kEleven},
     .type = 0.1,
     .reward = 0.1},
    {.name = "TitleOther",
     .bought = {.title = "desk", .query = kElse, .category = kElse},
     .type = 0,
     .reward = 0},
    {.name = "TitleOtherSameInAll",  // query and category do not help
     .bought = {.title = "desk"},
     .type = 0,
     .reward = 0},
    {.name = "TitleEmpty", .bought = {.title = ""}, .type = 0, .reward = 0},
    {.name = "WantedWithoutNouns",  // counts as 0.2
     .bought = {.query = kElse, .category = kElse},
     .wanted = {.title = "Large, Blue, Waterproof"},
     .type = 0.5,
     .reward = 0.5},
    {.name = "WantedWithoutNounsSameQuery",
     .bought = {.category = kElse},
     .wanted = {.title = "Large, Blue, Waterproof"}},
    {.name = "WantedRepeatsANoun",  // 1 distinct of 5: 0.2
     .bought = {.query = kElse, .category = kElse},
     .wanted = {.title = "lamp lamp lamp lamp lamp"},
     .type = 0.5,
     .reward = 0.5},
    {.name = "BoughtRepeatsANoun",  // 1 distinct of 5: 0.2
     .bought = {.title = "lamp lamp lamp", .query = kElse, .category = kElse},
     .wanted = {.title = kFive},
     .type = 0.5,
     .reward = 0.5},
    {.name = "BoughtHasMoreNouns",  // 1 of 1
     .bought = {.title = kEleven, .query = kElse, .category = kElse}},
    {.name = "TitlesDifferInCase",  // 1 of 1
     .bought = {.title = "LAMP", .query = kElse, .category = kElse}},
    {.name = "QueriesDifferInCase",
     .bought = {.query = "Lamps", .category = kElse},
     .wanted = {.title = kFive},
     .type = 0.5,
     .reward = 0.5},
    {.name = "QueriesEmpty",  // equal as any others
     .bought = {.query = "", .category = kElse},
     .wanted = {.title = kFive, .query = ""}},
};
INSTANTIATE_TEST_SUITE_P(Type, Reward, ::testing::ValuesIn(kTypes), NameOf);

// Categories: query differs and the title has a fifth, so that 1 or 0.5 tells.
Case Categories(std::string_view name, std::string_view bought, std::string_view wanted,
                bool same) {
  return {.name = name,
          .bought = {.query = kElse, .category = bought},
          .wanted = {.title = kFive, .category = wanted},
          .type = same ? 1 : 0.5,
          .reward = same ? 1 : 0.5};
}

const Case kCategories[] = {
    Categories("NoLevel", "Home › Lamps", "Beauty › Hair", false),
    Categories("OneLevel", "Home › Lamps", "Home › Rugs", false),
    Categories("TwoLevels", "Home › Lighting › Lamps", "Home › Lighting › Bulbs", true),
    Categories("TwoLevelsElsewhere", "A › Home › B › Lamps", "Lamps › C › Home", true),
    Categories("TwoLevelsOtherSpaces", " Home›Lamps", "Home  ›  Lamps ", true),
    Categories("OneLevelTwice", "Home › Home", "Home › Home", false),
    Categories("OneLevelInCapitals", "home › Lamps", "Home › Lamps", false),
    Categories("OneLevelAndPartOfOne", "Home › Lamps and Rugs", "Home › Lamps", false),
    Categories("BothEmpty", "", "", false),
    Categories("OneEmpty", "", "Home › Lamps", false),
    Categories("LevelsEmpty", "A › › B", "C › › D", false),  // one common level, the empty one
    Categories("OneLevelAndTheEmptyOne", "A › › B", "A › › D", true),
};
INSTANTIATE_TEST_SUITE_P(Category, Reward, ::testing::ValuesIn(kCategories), NameOf);

// Price: (1 + 0 + price) / 2.
const Case kPrices[] = {
    {.name = "Below", .bought = {.price = 29.99}},
    {.name = "Equal", .bought = {.price = 30}},
    {.name = "Above", .bought = {.price = 30.01}, .price_met = false, .reward = 0.5},
    {.name = "NoLimit", .bought = {.price = 999'999}, .limit = ShopGoal::kNoLimit},
    {.name = "RangeDrawnBelow", .bought = {.price = 25, .has_price_range = true}},
    {.name = "RangeDrawnAbove",  // though it starts at 10
     .bought = {.price = 35, .has_price_range = true},
     .price_met = false,
     .reward = 0.5},
};
INSTANTIATE_TEST_SUITE_P(Price, Reward, ::testing::ValuesIn(kPrices), NameOf);

// One option wanted: (1 + met + 1) / 3.
Case OneOption(std::string_view name, Words chosen, GoalOption wanted, bool met) {
  return {.name = name,
          .chosen = std::move(chosen),
          .options = {wanted},
          .options_met = met ? 1 : 0,
          .reward = met ? 1 : 2.0 / 3};
}

const Case kOptions[] = {
    {.name = "NoneWantedSomeChosen", .chosen = {"red", "x-large"}},
    OneOption("NoneChosen", {}, {"size", "x-large"}, false),
    // {x, large} are all among {size, x, large}: 100.
    OneOption("SameValue", {"x-large"}, {"size", "x-large"}, true),
    // "large" of "large xx": 10 / 13 = 77 is the best.
    OneOption("OtherSize", {"xx-large"}, {"size", "x-large"}, false),
    // {large} is among {size, x, large}: 100.
    OneOption("PartOfTheValue", {"large"}, {"size", "x-large"}, true),
    // The name counts: {size} is among {size, 9}.
    OneOption("TheNameAsValue", {"size"}, {"size", "9"}, true),
    OneOption("CapitalsChosen", {"X-LARGE"}, {"size", "x-large"}, true),
    OneOption("EmptyChosen", {""}, {"size", "x-large"}, false),
    OneOption("PunctuationChosen", {"-"}, {"size", "-"}, false),
    OneOption("SeveralChosenFirstFits", {"red", "9 wide"}, {"color", "red"}, true),
    OneOption("SeveralChosenLastFits", {"9 wide", "red"}, {"color", "red"}, true),
    OneOption("SeveralChosenNoneFits", {"9 wide", "blue"}, {"color", "red"}, false),

    // Likeness: 6 of 7 characters, 12 / 14 = 85.7, is 86; 17 of 20 is 85.
    OneOption("Likeness86", {"qqqqqqx"}, {"", "qqqqqqy"}, true),
    OneOption("Likeness85", {"qqqqqqqqqqqqqqqqqxxx"}, {"", "qqqqqqqqqqqqqqqqqyyy"}, false),

    // A chosen value becomes the first base colour in it. The list is alphabetical.
    OneOption("ChosenHoldsTheColor", {"a1-red"}, {"color", "red"}, true),
    OneOption("ChosenHoldsTheColorInAWord", {"covered"}, {"color", "red"}, true),
    OneOption("ChosenHoldsAnEarlierColor", {"red and blue"}, {"color", "red"}, false),  // blue
    OneOption("ChosenColorInCapitalsStays", {"RED77"}, {"color", "red"}, false),        // 6 / 8
    OneOption("ChosenColorWithNumber", {"red77"}, {"color", "red"}, true),
    OneOption("ChosenShadeBecomesTheColor", {"navy blue"}, {"color", "blue"}, true),
    // "blue" is among {color, navy, blue}.
    OneOption("ChosenColorOfAWantedShade", {"sky blue"}, {"color", "navy blue"}, true),
    OneOption("OtherColor", {"green"}, {"color", "red"}, false),

    // A wanted pair is a colour only where its name or value is one.
    // "red" of "color reddish": 6 / 16 = 38.
    OneOption("PairValueHoldsAColor", {"red"}, {"color", "reddish"}, false),
    // "gold", not {gold, 18k}.
    OneOption("PairNameIsAColorValueChosen", {"18k"}, {"gold", "18k"}, false),
    OneOption("PairNameIsAColorColorChosen", {"gold tone"}, {"gold", "18k"}, true),
    // "blue" comes before "red" in the list.
    OneOption("PairOfTwoColorsFirstOfTheList", {"blue"}, {"red", "blue"}, true),
    OneOption("PairOfTwoColorsLastOfTheList", {"red"}, {"red", "blue"}, false),
    // "color" is among {color, red}, but of "red" it has only the "r": 2 / 8.
    OneOption("PairOfAColorLosesItsName", {"color"}, {"color", "red"}, false),

    // A plain value becomes the first base colour in it.
    OneOption("PlainValueHoldsAColor", {"red"}, {"", "reddish"}, true),
    OneOption("PlainValuesHoldTheSameColor", {"tangerine"}, {"", "tan leather"}, true),
    OneOption("PlainValueHoldsAnEarlierColor", {"red"}, {"", "dark red"}, false),  // dark
    OneOption("PlainValueWithoutColor", {"9 wide"}, {"", "9 wide"}, true),
    OneOption("PlainValueHasNoName", {"size"}, {"", "9 wide"}, false),

    // Python shows the no-break space of a pair as \xa0, and drops that of a value: {5, 5wide} and
    // {size, 5, xa0wide} share "5". The best is 57, of thefuzz.
    OneOption("PairWithNoBreakSpace", {"5.5\u00a0wide"}, {"size", "5.5\u00a0wide"}, false),
    // \n makes a word "nb" of the line "b"; {fit, a, nb} holds what was chosen.
    OneOption("PairWithNewline", {"a nb"}, {"fit", "a\nb"}, true),
    OneOption("PairWithZeroWidthSpace", {"u200bab"}, {"fit", "\u200bab"}, true),

    // Two wanted: (1 + met + 1) / 4.
    {.name = "TwoWantedOneMet",
     .chosen = {"red"},
     .options = {{"color", "red"}, {"size", "9"}},
     .options_met = 1,
     .reward = 3.0 / 4},
    {.name = "OneChosenMeetsTwo",
     .chosen = {"red"},
     .options = {{"color", "red"}, {"trim", "red"}},
     .options_met = 2},
};
INSTANTIATE_TEST_SUITE_P(Option, Reward, ::testing::ValuesIn(kOptions), NameOf);

// One attribute wanted: (met + 0 + 1) / 2.
Case OneAttribute(std::string_view name, Side bought, std::string_view wanted, bool met) {
  return {.name = name,
          .bought = std::move(bought),
          .attributes = {wanted},
          .attributes_met = met ? 1 : 0,
          .reward = met ? 1 : 0.5};
}

const Case kAttributes[] = {
    OneAttribute("Same", {}, "easy clean", true),
    OneAttribute("Other", {}, "long lasting", false),
    OneAttribute("WithHyphen", {.attributes = {"long-lasting"}}, "long lasting", true),
    OneAttribute("MoreWords", {}, "easy to clean", true),
    OneAttribute("LastOfSeveral", {.attributes = {"non slip", "easy clean"}}, "easy clean", true),
    // 12 of 12 and 16 characters: 24 / 28 is 86.
    OneAttribute("Likeness86", {.attributes = {"machine washable"}}, "machine wash", true),
    OneAttribute("Likeness85", {.attributes = {"qqqqqqqqqqqqqqqqqxxx"}}, "qqqqqqqqqqqqqqqqqyyy",
                 false),
    OneAttribute("InTheTitle", {.title = "Lamp with USB Port"}, "usb port", true),
    OneAttribute("InTheTitleWithinWords", {.title = "lamp bottled"}, "led", true),
    OneAttribute("InTheTitleOtherOrder", {.title = "lamp port usb"}, "usb port", false),
    OneAttribute("InABullet", {.bullets = {"Soft", "Has a USB PORT."}}, "usb port", true),
    OneAttribute("AcrossBullets", {.bullets = {"of soft", "cotton"}}, "soft cotton", true),
    OneAttribute("AcrossTitleAndBullet", {.title = "lamp soft", .bullets = {"cotton"}},
                 "soft cotton", false),
    OneAttribute("InTheDescription", {.description = "A lamp with a USB port."}, "usb port", true),
    // What is wanted is not lowered where it is searched, but is where it is compared.
    OneAttribute("CapitalsWantedInTheTitle", {.title = "Lamp with USB Port"}, "USB Port", false),
    OneAttribute("CapitalsWantedAsAttribute", {.attributes = {"usb port"}}, "USB Port", true),
    OneAttribute("NoneKnown", {.attributes = {"DUMMY_ATTR"}}, "easy clean", false),
    // "dummy_attr" is one word; with "attr dummy" it shares 5 of 10 characters.
    OneAttribute("NoneKnownIsOneWord", {.attributes = {"DUMMY_ATTR"}}, "dummy attr", false),
    OneAttribute("NoneKnownButDescribed",
                 {.attributes = {"DUMMY_ATTR"}, .description = "Easy clean."}, "easy clean", true),
    // (2 + 0 + 1) / 4
    {.name = "TwoOfThree",
     .attributes = {"easy clean", "non slip", "easy to clean"},
     .attributes_met = 2,
     .reward = 3.0 / 4},
    // (2 + 0 + 1) / 3: each counts, though one of the product's meets both.
    {.name = "OneMeetsTwo", .attributes = {"easy clean", "easy clean"}, .attributes_met = 2},
};
INSTANTIATE_TEST_SUITE_P(Attribute, Reward, ::testing::ValuesIn(kAttributes), NameOf);

const Case kTotals[] = {
    // (1 + 1 + 0) / (2 + 2 + 1) * 0.5
    {.name = "SomeOfEachOfAnotherKind",
     .bought = {.query = kElse, .category = kElse, .price = 31},
     .chosen = {"red"},
     .wanted = {.title = kFive},
     .attributes = {"easy clean", "non slip"},
     .options = {{"color", "red"}, {"size", "9"}},
     .type = 0.5,
     .attributes_met = 1,
     .options_met = 1,
     .price_met = false,
     .reward = 0.2},
    // (0 + 0 + 0) / 2
    {.name = "NothingMet",
     .bought = {.price = 31},
     .attributes = {"non slip"},
     .attributes_met = 0,
     .price_met = false,
     .reward = 0},
    // All is met of a thing of quite another kind.
    {.name = "AllMetOfNoKind",
     .bought = {.title = "desk"},
     .chosen = {"red"},
     .options = {{"color", "red"}},
     .type = 0,
     .options_met = 1,
     .reward = 0},
    // (2 + 0 + 1) / 7 * 0.1; multiplied first it would be larger by the last bit.
    {.name = "LastBit",
     .wanted = {.title = kEleven},
     .attributes = {"easy clean", "easy clean", "q", "qq", "qqq", "qqqq"},
     .type = 0.1,
     .attributes_met = 2,
     .reward = 3.0 / 7 * 0.1},
};
INSTANTIATE_TEST_SUITE_P(Total, Reward, ::testing::ValuesIn(kTotals), NameOf);

TEST(RewardParts, SayWhatTheKindDependsOn) {
  const Words attributes = {"easy clean"};
  const Side bought_side = {.query = kElse};
  const Side wanted_side = {.title = "lamp desk chair sofa"};
  const Product bought = ProductOf(bought_side);
  const Product wanted = ProductOf(wanted_side);
  ShopGoal goal;
  goal.product = &wanted;
  goal.attributes = attributes;
  const ShopReward reward = RewardOf(bought, {}, goal);
  EXPECT_FALSE(reward.same_query);
  EXPECT_TRUE(reward.same_category);
  EXPECT_EQ(reward.title_score, 0.25);
}

}  // namespace
}  // namespace agentr
