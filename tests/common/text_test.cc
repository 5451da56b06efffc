#include "common/text.h"

#include <gtest/gtest.h>

namespace agentr {
namespace {

TEST(OneLineTest, TurnsLineBreaksAndTabsIntoSpaces) {
  EXPECT_EQ(OneLine("a\nb\tc\rd e"), "a b c d e");
  EXPECT_EQ(OneLine(""), "");
}

}  // namespace
}  // namespace agentr
