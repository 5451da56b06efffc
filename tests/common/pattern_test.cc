#include "common/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Pattern, FindsTheFirstAndTheLastMatchAndTheirGroups) {
  const Pattern pattern("go (\\w+)");
  EXPECT_TRUE(pattern.Matches("please go north"));
  EXPECT_FALSE(pattern.Matches("stay"));
  EXPECT_EQ(pattern.First("go north, go südwärts", 1), "north");
  EXPECT_EQ(pattern.Last("go north, go südwärts", 1), "südwärts");
  EXPECT_EQ(pattern.First("go north"), "go north");
  EXPECT_THAT(pattern.All("go north, go south", 1), ElementsAre("north", "south"));
  EXPECT_THAT(pattern.All("stay"), ElementsAre());
  EXPECT_EQ(pattern.First("stay"), std::nullopt);
  EXPECT_EQ(pattern.groups(), 1);
}

TEST(Pattern, LineAnchorsAndEmptyMatches) {
  EXPECT_TRUE(Pattern("^Nothing happens$").Matches("You push.\nNothing happens\n"));
  EXPECT_EQ(Pattern("x*").Last("öö"), "");
  EXPECT_EQ(Pattern("(a)|b").First("b", 1), "") << "a group that took no part";
}

TEST(Pattern, Replaces) {
  std::vector<std::string> readings;
  EXPECT_EQ(Pattern("\\d+(\\.\\d+)?").Replaced("20.5 degrees, 3 cups", "#", &readings),
            "# degrees, # cups");
  EXPECT_THAT(readings, ElementsAre("20.5", "3"));
  EXPECT_EQ(Pattern("[^a-z ]").Replaced("Go, go!", ""), "o go");
}

TEST(Pattern, NeitherBadBytesNorEndlessSearchesMatch) {
  EXPECT_FALSE(Pattern("a").Matches("a\xff"));
  EXPECT_FALSE(Pattern("^(a+)+$").Matches(std::string(40, 'a') + "b"));
}

TEST(Pattern, AFaultIsNamedWithItsPlace) {
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [] { Pattern("go (north"); }),
              HasSubstr("'go (north' is wrong at character 10"));
}

}  // namespace
}  // namespace agentr
