#include "common/toml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>

#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What the values of `text`, which has one key, are to an option.
std::vector<std::string> Values(const std::string& text) { return ParseToml(text).at(0).values; }

// The message that `text` is refused with; empty if it is taken.
std::string Refusal(const std::string& text) {
  return FatalErrorOf(ExitCode::kUsage, [&] { ParseToml(text); });
}

TEST(Toml, ValuesAreTextForOptions) {
  EXPECT_THAT(Values("a = -12"), ElementsAre("-12"));
  EXPECT_THAT(Values("a = 0x1f"), ElementsAre("31"));
  EXPECT_THAT(Values("a = 1_000"), ElementsAre("1000"));
  EXPECT_THAT(Values("a = 0.1"), ElementsAre("0.1"));
  EXPECT_THAT(Values("a = 8.0"), ElementsAre("8.0")) << "no integer";
  EXPECT_THAT(Values("a = -inf"), ElementsAre("-inf"));
  EXPECT_THAT(Values("a = true"), ElementsAre("true"));
  EXPECT_THAT(Values("a = ''"), ElementsAre(""));
  EXPECT_THAT(Values("a = \"x\\u00e9\\n\""), ElementsAre("x\xc3\xa9\n"));
  EXPECT_THAT(Values("a = []"), ElementsAre());
  EXPECT_THAT(Values("a = [false, 'b', 3]"), ElementsAre("false", "b", "3"));
}

TEST(Toml, KeysKeepTheirOrder) {
  const std::vector<TomlItem> items = ParseToml("b = 1\n'a' = 2\nc_d-1 = 3");
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].key, "b");
  EXPECT_EQ(items[1].key, "a");
  EXPECT_EQ(items[2].key, "c_d-1");
  EXPECT_TRUE(ParseToml("# nothing\n\n").empty());
}

TEST(Toml, RefusalsNameLineAndCure) {
  EXPECT_THAT(Refusal("a = 1\na = 2"), HasSubstr("line 2: "));
  EXPECT_THAT(Refusal("a = 1\na = 2"), HasSubstr("'a'"));
  const std::string tables = "line 2: tables are not allowed: write the option as key = value";
  for (const char* text : {"a = 1\n[b]\n", "a = 1\n[b]\nc = 1", "a = 1\nb.c = 1", "a = 1\nb = {}",
                           "a = 1\n[[b]]\n", "a = 1\nb = [{}]"}) {
    EXPECT_EQ(Refusal(text), tables) << text;
  }
  EXPECT_THAT(Refusal("a = 1\nb = planner"), HasSubstr("text in quotes"));
  EXPECT_THAT(Refusal("a = 1\nb = planner"), HasSubstr("line 2: "));
  EXPECT_THAT(Refusal("a = 1 b = 2"), HasSubstr("one on a line"));
  EXPECT_THAT(Refusal("a = [1, [2]]"),
              HasSubstr("line 1: no option takes an array inside an array"));
  EXPECT_THAT(Refusal("a = 2020-01-01"), HasSubstr("line 1: no option takes a date"));
  EXPECT_THAT(Refusal("a = '\xff'"), HasSubstr("line 1: "));
  EXPECT_THAT(Refusal("a = 1\n[~b]\nc.\nc\n"), HasSubstr("line 2: ")) << "the first error counts";
}

// Some of these characters bring toml++'s own classification to code that it declares unreachable.
TEST(Toml, CharactersBeyondAsciiStandInStringsAndComments) {
  for (const std::string c : {"\xc3\xa9", "\xc2\xa0", "\xe1\xa0\x8f", "\xe2\x80\xbf",
                              "\xe3\x80\x81", "\xef\xb3\xbf", "\xef\xbf\xbf", "\xf0\x9f\x98\x80"}) {
    for (const char* bare :
         {"a = 1\n{} b = 1", "a = 1\nb{} = 1", "a = 1\nb {}= 1", "a = 1\nb = caf{}",
          "a = 1\nb = {}", "a = 1\nb = 1{}", "a = 1\nb = ''{}", "a = 1\nb = [1, {}]",
          "a = 1\nb = \"\\{}\"", "a = 1\nb = '{}"}) {
      const std::string text = fmt::format(fmt::runtime(bare), c);
      EXPECT_THAT(Refusal(text), HasSubstr("line 2: ")) << text;
    }
    for (const char* quoted : {"'{}'", "\"{}\" # {}", "\"\"\"\n{}\"\"\"", "'''{}'''"}) {
      const std::string text = "# " + c + "\na = " + fmt::format(fmt::runtime(quoted), c, c);
      EXPECT_THAT(Values(text), ElementsAre(c)) << text;
    }
  }
  EXPECT_THAT(Refusal("a = 1\nb = \"\xc3\""), HasSubstr("line 2: "));
  EXPECT_THAT(Values("\xef\xbb\xbf"
                     "a = 'b'"),
              ElementsAre("b"))
      << "after a byte order mark";
}

TEST(Toml, WhatIsWrittenReadsBackAsItWas) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "\xc3\xa9 \xf0\x9f\x98\x80 \xef\xbf\xbf";
  nlohmann::ordered_json object;
  object["text"] = all;
  object["none"] = nlohmann::ordered_json::array();
  object["large"] = UINT64_MAX;
  object["largest"] = INT64_MAX;
  object["least"] = INT64_MIN;
  object["tiny"] = 5e-324;
  const std::vector<TomlItem> items = ParseToml(ToToml(object));
  ASSERT_EQ(items.size(), 5U) << "an empty array is left out";
  EXPECT_THAT(items[0].values, ElementsAre(all));
  EXPECT_THAT(items[1].values, ElementsAre("18446744073709551615"));
  EXPECT_THAT(items[2].values, ElementsAre("9223372036854775807"));
  EXPECT_THAT(items[3].values, ElementsAre("-9223372036854775808"));
  EXPECT_THAT(items[4].values, ElementsAre("5e-324"));
}

}  // namespace
}  // namespace agentr
