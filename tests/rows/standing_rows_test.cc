// What stands where rows are about to be written, and when it stays.
#include "rows/standing_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

const Json kOptions = {{"replay", "auto"}, {"max", 100}};

std::string Keep(const RowsWorth& there, const RowsWorth& now) {
  return WhyKeep({"rows.jsonl", there, kOptions}, now, {{"replay", "0"}, {"max", 100}});
}

TEST(StandingRows, AsManyAndAsWellCheckedOnesMayTakeTheirPlace) {
  EXPECT_EQ(Keep({10, 10}, {10, 10}), "");
  EXPECT_EQ(Keep({10, 5}, {12, 6}), "");
  EXPECT_EQ(Keep({10, 0}, {10, 3}), "");
  EXPECT_EQ(Keep({0, 0}, {0, 0}), "");
}

TEST(StandingRows, ChecksThatRemoveAFewRowsMakeTheRestBetter) {
  EXPECT_EQ(Keep({10, 0}, {9, 9}), "");
  EXPECT_EQ(Keep({10, 4}, {8, 8}), "");
  EXPECT_NE(Keep({10, 0}, {3, 3}), "") << "most rows would be lost";
  EXPECT_NE(Keep({10, 9}, {9, 9}), "");
}

TEST(StandingRows, FewerOrLessCheckedOnesMayNot) {
  EXPECT_NE(Keep({10, 10}, {9, 9}), "");
  EXPECT_NE(Keep({10, 10}, {0, 0}), "");
  EXPECT_NE(Keep({10, 5}, {12, 5}), "") << "a smaller share";
  const std::string why = Keep({10, 10}, {10, 0});
  for (const char* part :
       {"rows.jsonl was kept", "10 rows, 10 of them verified", "10 rows, 0 of them verified",
        "--replay \"auto\" there, \"0\" now", "--overwrite 1", "--output_dir"}) {
    EXPECT_THAT(why, HasSubstr(part));
  }
  EXPECT_THAT(why, ::testing::Not(HasSubstr("--max"))) << "it is the same";
}

TEST(StandingRows, TheRunFileTellsWhatTheyAreWorth) {
  const ScratchFolder folder;
  const auto stem = folder / "webshop_centric";
  EXPECT_FALSE(FindStandingRows(stem));
  folder.Write("webshop_centric.run.json", R"({"rows": 7, "verified": 5, "options": {"max": 3}})");
  EXPECT_FALSE(FindStandingRows(stem)) << "of rows that were removed";
  folder.Write("webshop_centric.jsonl", "");
  folder.Write("webshop_good.jsonl", "{}\n");
  EXPECT_FALSE(FindStandingRows(stem)) << "no rows, or others";
  folder.Write("webshop_centric.messages.jsonl", "{}\n{}\n");
  const auto standing = FindStandingRows(stem);
  ASSERT_TRUE(standing);
  EXPECT_EQ(standing->file, folder / "webshop_centric.messages.jsonl");
  EXPECT_EQ(standing->worth.rows, 7);
  EXPECT_EQ(standing->worth.verified, 5);
  EXPECT_EQ(standing->options, Json({{"max", 3}}));
}

TEST(StandingRows, WithoutARunFileTheirLinesCount) {
  const ScratchFolder folder;
  folder.Write("rows.jsonl", "{}\n");
  folder.Write("rows.sharegpt.jsonl", "{}\n{}\n{}\n");
  for (const char* run : {"", "{", "[]", R"({"rows": "many"})"}) {
    folder.Write("rows.run.json", run);
    const auto standing = FindStandingRows(folder / "rows");
    ASSERT_TRUE(standing);
    EXPECT_EQ(standing->worth.rows, 3);
    EXPECT_EQ(standing->worth.verified, 0);
  }
}

}  // namespace
}  // namespace agentr
