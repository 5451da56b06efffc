#include "common/json_depth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace agentr {
namespace {

using ::testing::HasSubstr;

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonDepthTest, ALimitOnNesting) {
  EXPECT_FALSE(ParseJson(Nested(kDeepestJson)).is_discarded());
  EXPECT_TRUE(ParseJson(Nested(kDeepestJson + 1)).is_discarded());
  EXPECT_TRUE(IsTooDeep(std::string(30'000'000, '[')));
  EXPECT_FALSE(IsTooDeep("[" + std::string(2000, ' ') + R"({"a": "[[[\"[[", "b": []}, {}, {}])"));
  std::string wide = "[";
  for (int i = 0; i < 200; ++i) wide += "[],";
  EXPECT_FALSE(ParseJson(wide + "[]]").is_discarded());
  EXPECT_EQ(ParseJson(R"({"a": "\"[["})")["a"], "\"[[");
  EXPECT_TRUE(IsTooDeep("\"\\\\\"" + std::string(101, '{')));  // a string that ends in a backslash
}

TEST(JsonDepthTest, FilesAreRefusedWithThePlace) {
  EXPECT_EQ(ParseJsonOrThrow("[1]")[0], 1);
  EXPECT_EQ(ParseJsonOrThrow(Nested(kDeepestTree), kDeepestTree).size(), 1U);
  try {
    ParseJsonOrThrow(" " + Nested(kDeepestJson + 1));
    ADD_FAILURE();
  } catch (const nlohmann::json::parse_error& error) {
    EXPECT_EQ(error.byte, 1U + kDeepestJson);
    EXPECT_NE(std::string(error.what()).find("nested deeper than 100 levels"), std::string::npos);
  }
  EXPECT_THROW(ParseJsonOrThrow("[1"), nlohmann::json::parse_error);
}

TEST(JsonFault, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(JsonFault(R"({"a": [1, 2]})"), "");
  EXPECT_THAT(JsonFault("{\"a\": \"caf\xe9\"}"), HasSubstr("byte 11 is not UTF-8"));
  EXPECT_THAT(JsonFault(R"({"a": "\ud83d"})"), HasSubstr("half a surrogate pair"));
  EXPECT_THAT(JsonFault(R"({"a": "\ude00"})"), HasSubstr("half a surrogate pair"));
  EXPECT_THAT(JsonFault(R"({"a": [1, 2)"), HasSubstr("may be truncated"));
  EXPECT_EQ(JsonFault("{'a': 1}"), "no JSON at byte 2");
  EXPECT_EQ(JsonFault("[1e999]"), "a number is beyond the range of double");
  EXPECT_EQ(JsonFault("[[[]]]", 2), "it is nested deeper than 2 levels");
}

TEST(JsonFault, NamesFilesOfAnotherKind) {
  for (const auto& [begin, words] : {std::pair("\x1f\x8b\x08", "gunzip"),
                                     {"\x28\xb5\x2f\xfd", "unzstd"},
                                     {"PK\x03\x04", "unzip"},
                                     {"PAR1\x15", "Parquet"},
                                     {"\xff\xfe{", "UTF-16"},
                                     {"\xfe\xff", "UTF-16"},
                                     {"version https://git-lfs.github.com/spec/v1", "git lfs pull"},
                                     {"data: {}", "stream of events"},
                                     {"<!DOCTYPE html>", "page of HTML"}}) {
    EXPECT_THAT(JsonFault(begin), HasSubstr(words));
  }
}

}  // namespace
}  // namespace agentr
