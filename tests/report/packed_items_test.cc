#include "report/packed_items.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/gzip.h"
#include "tests/report/page_data.h"

namespace agentr {
namespace {

TEST(PackedItems, EncodesTheExamplesOfRfc4648) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xff\xfe\xfd"), "//79");
}

nlohmann::json Block(PackedItems& items, int block) {
  const std::string packed = FromBase64(items.Blocks().at(static_cast<size_t>(block)));
  return nlohmann::json::parse(Gunzip(packed, /*most=*/100'000'000).value());
}

TEST(PackedItems, PutsItemsWhereItSays) {
  PackedItems items;
  const auto first = items.Add({{"n", 1}});
  const auto second = items.Add({{"n", 2}});
  items.EndBlock();
  const auto third = items.Add({{"n", 3}});
  EXPECT_EQ(first.block, second.block);
  EXPECT_EQ(third.block, second.block + 1);
  EXPECT_EQ(Block(items, second.block).at(static_cast<size_t>(second.at)).at("n"), 2);
  EXPECT_EQ(Block(items, third.block).at(static_cast<size_t>(third.at)).at("n"), 3);
}

TEST(PackedItems, BeginsABlockWhenOneIsFull) {
  PackedItems items;
  const std::string long_text(PackedItems::kBlockBytes, 'x');
  EXPECT_EQ(items.Add(long_text).block, 0);
  const auto next = items.Add("short");
  EXPECT_EQ(next.block, 1);
  EXPECT_EQ(next.at, 0);
  items.EndBlock();
  items.EndBlock();  // there is nothing to end
  EXPECT_EQ(items.Blocks().size(), 2);
}

TEST(PackedItems, KeepsTextThatIsNotUtf8) {
  PackedItems items;
  items.Add("a\xff");
  EXPECT_EQ(Block(items, 0).at(0), "a\uFFFD");
}

}  // namespace
}  // namespace agentr
