#include "games/webshop/shop_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "games/webshop/shop_generator.h"
#include "games/webshop/shop_hash.h"
#include "small_shop.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SmallShopFiles;

class ShopFilesTest : public ::testing::Test {
 protected:
  ShopFiles Products(const std::string& text) {
    return {.products = folder_.Write("p.json", text), .attributes = {}, .human_goals = {}};
  }

  // What WriteShopFiles wrote.
  ShopFiles Written() const {
    return {.products = folder_ / "items_shuffle.json",
            .attributes = folder_ / "items_ins_v2.json",
            .human_goals = folder_ / "items_human_ins.json"};
  }

  static std::string ErrorOf(const ShopFiles& files) {
    return FatalErrorOf(ExitCode::kFile, [&] { ReadShopFiles(files); });
  }

  const ScratchFolder folder_;
};

TEST_F(ShopFilesTest, SkipsWhatTheOriginalSkips) {
  const Catalogue shop = ReadShopFiles(SmallShopFiles());
  std::vector<std::string_view> asins;
  for (const Product& product : shop.products()) asins.push_back(product.asin);
  EXPECT_THAT(asins,
              ElementsAre("B000000001", "B000000002", "B000000003", "B000000004", "B000000005",
                          "B000000006", "B000000007", "B000000008", "B000000009", "B00000000A"));
  EXPECT_EQ(shop.Find("B000000001")->title, "Acme Water Bottle, Insulated, 24 oz");
}

TEST_F(ShopFilesTest, ReadsEveryField) {
  const Catalogue shop = ReadShopFiles(SmallShopFiles());
  const Product& bottle = *shop.Find("B000000001");
  EXPECT_EQ(bottle.description, "Keeps drinks cold. <b>Really</b> & truly.");
  EXPECT_EQ(bottle.category, "garden");
  EXPECT_EQ(bottle.query, "water bottle");
  EXPECT_EQ(bottle.product_category, "Home & Kitchen › Kitchen › Bottles");
  EXPECT_EQ(bottle.image, "images/1.jpg");
  EXPECT_THAT(bottle.bullets, ElementsAre("Double wall", "Leak proof lid"));
  EXPECT_THAT(bottle.attributes, ElementsAre("insulated", "leak proof", "bpa free"));
  ASSERT_EQ(bottle.options.size(), 2u);
  EXPECT_EQ(bottle.options[0].name, "color");
  EXPECT_THAT(bottle.options[0].values, ElementsAre("navy blue", "red"));
  EXPECT_EQ(bottle.instruction, "i need an insulated water bottle");
  EXPECT_THAT(bottle.instruction_attributes, ElementsAre("insulated", "leak proof"));
  ASSERT_EQ(bottle.human_instructions.size(), 2u);
  EXPECT_EQ(bottle.human_instructions[0].text, "..i want a red insulated bottle of 24 oz..");
  EXPECT_THAT(bottle.human_instructions[0].options, ElementsAre("red", "24 oz"));
}

TEST_F(ShopFilesTest, PricesAndTheirTags) {
  const Catalogue shop = ReadShopFiles(SmallShopFiles());
  const auto tag = [&](const char* asin) { return PriceTag(*shop.Find(asin)); };
  EXPECT_EQ(tag("B000000001"), "$19.99");
  EXPECT_EQ(tag("B000000002"), "$10.0 to $30.5");
  EXPECT_EQ(tag("B000000003"), "$100.0");        // empty
  EXPECT_EQ(tag("B000000005"), "$1234.5");       // with a comma
  EXPECT_EQ(tag("B000000006"), "$5.0 to $7.0");  // the first two of three
  EXPECT_EQ(tag("B000000007"), "$100.0");        // null
}

TEST_F(ShopFilesTest, WhatRecordsLack) {
  const Catalogue shop = ReadShopFiles(SmallShopFiles());
  EXPECT_THAT(shop.Find("B000000002")->bullets, ElementsAre("One bullet as a text"));
  ASSERT_EQ(shop.Find("B000000002")->options.size(), 1u) << "null options are left out";
  EXPECT_THAT(shop.Find("B000000003")->bullets, ElementsAre("", "Smells like 日本 cedar", ""));
  EXPECT_EQ(shop.Find("B000000003")->options.size(), 0u);
  EXPECT_EQ(shop.Find("B000000003")->query, "hand soap");
  EXPECT_EQ(shop.Find("B000000004")->title.size(), 200u);
  EXPECT_THAT(shop.Find("B000000004")->options[1].values, ElementsAre("youth", "black  |  grey"));
  EXPECT_FALSE(shop.Find("B000000006")->has_instruction);
  EXPECT_THAT(shop.Find("B000000007")->attributes, ElementsAre("DUMMY_ATTR"));
  EXPECT_TRUE(shop.Find("B000000007")->has_instruction);
}

TEST_F(ShopFilesTest, TheFirstRecordsCountBeforeAnyIsSkipped) {
  ShopFiles files = SmallShopFiles();
  files.num_products = 6;  // three of them are skipped
  EXPECT_EQ(ReadShopFiles(files).products().size(), 3u);
}

TEST_F(ShopFilesTest, WrittenAndReadBackItIsTheSameShop) {
  const Catalogue shop = ReadShopFiles(SmallShopFiles());
  WriteShopFiles(shop, folder_.path());
  const Catalogue again = ReadShopFiles(Written());
  ASSERT_EQ(again.products().size(), shop.products().size());
  for (const GoalKind goals : {GoalKind::kSynthetic, GoalKind::kHuman}) {
    EXPECT_EQ(ShopHash(again, goals, ""), ShopHash(shop, goals, ""));
    // The hash tells shops apart.
    EXPECT_NE(ShopHash(ReadShopFiles({SmallShopFiles().products, {}, {}, 0}), goals, ""),
              ShopHash(shop, goals, ""));
  }
}

TEST_F(ShopFilesTest, AGeneratedShopIsReadBackTheSame) {
  Catalogue shop = GenerateShop(500, 3);
  shop.DrawPrices(7);
  WriteShopFiles(shop, folder_.path());
  Catalogue again = ReadShopFiles(Written());
  again.DrawPrices(7);
  ASSERT_EQ(again.products().size(), 500U);
  for (const GoalKind goals : {GoalKind::kSynthetic, GoalKind::kHuman}) {
    EXPECT_EQ(ShopHash(again, goals, ""), ShopHash(shop, goals, ""));
  }
}

TEST_F(ShopFilesTest, AnEmptyListIsAnEmptyShop) {
  const Catalogue shop = ReadShopFiles(Products("[]"));
  EXPECT_TRUE(shop.products().empty());
  WriteShopFiles(shop, folder_.path());
  EXPECT_TRUE(ReadShopFiles({folder_ / "items_shuffle.json", {}, {}, 0}).products().empty());
}

TEST_F(ShopFilesTest, ErrorsNameTheFileAndThePlace) {
  EXPECT_THAT(ErrorOf(Products(R"([{"asin": "A"}, {"name": "x"}])")),
              HasSubstr("p.json: record 2 is not a product: it has no asin"));
  EXPECT_THAT(ErrorOf(Products(R"([{"asin": "A"}, 7])")), HasSubstr("record 2"));
  EXPECT_THAT(ErrorOf(Products(R"([{"asin": "A"})")), HasSubstr("p.json"));
  EXPECT_THAT(ErrorOf(Products(R"([{"asin": "A"})")), HasSubstr("byte 15"));
  EXPECT_THAT(ErrorOf(Products("12")), HasSubstr("neither an array nor an object"));
  EXPECT_THAT(ErrorOf({folder_ / "none.json", {}, {}, 0}), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace agentr
