#include "revision/thoughts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/error.h"

namespace agentr {
namespace {

TEST(ThoughtsTest, OnePerLineWithoutCommentsAndBlanks) {
  EXPECT_THAT(ParseThoughts("# about\n\n  I erred. \r\nMy fault.\n \n#x"),
              ::testing::ElementsAre("I erred.", "My fault."));
}

TEST(ThoughtsTest, AFileWithoutAnyIsRefused) {
  EXPECT_THROW(ParseThoughts("# none\n"), FatalError);
  EXPECT_THROW(ParseThoughts(""), FatalError);
}

TEST(ThoughtsTest, TheBuiltInOnesAreManyAndDifferent) {
  const std::vector<std::string>& thoughts = BuiltInThoughts();
  EXPECT_GE(thoughts.size(), 20U);
  EXPECT_EQ(std::set<std::string>(thoughts.begin(), thoughts.end()).size(), thoughts.size());
}

}  // namespace
}  // namespace agentr
