#include "common/text.h"

#include <gtest/gtest.h>

namespace agentr {
namespace {

TEST(OneLineTest, TurnsLineBreaksAndTabsIntoSpaces) {
  EXPECT_EQ(OneLine("a\nb\tc\rd e"), "a b c d e");
  EXPECT_EQ(OneLine(""), "");
}

TEST(EscapeControlsTest, WritesControlCharactersOut) {
  EXPECT_EQ(EscapeControls("plain text, é, 漢, 😀"), "plain text, é, 漢, 😀");
  EXPECT_EQ(EscapeControls("\x1b[2J\a\n\t\r\x7f"), R"(\x1b[2J\x07\n\t\r\x7f)");
  EXPECT_EQ(EscapeControls(std::string_view("a\0b", 3)), R"(a\x00b)");
  EXPECT_EQ(EscapeControls("a\nb\x1b", "\n"), "a\nb\\x1b");
  EXPECT_EQ(EscapeControls("\xc2\x9b"
                           "31m"),
            R"(\x9b31m)");  // U+009B
}

TEST(EscapeControlsTest, WritesMarksThatTurnTheLineOut) {
  EXPECT_EQ(EscapeControls("a\u202eb\u2066c\u2069\u200f"), R"(a\u202eb\u2066c\u2069\u200f)");
  EXPECT_EQ(EscapeControls("\u2010\u2030\u206a\u200d"), "\u2010\u2030\u206a\u200d")
      << "others stay";
}

TEST(EscapeControlsTest, WritesBytesThatAreNoUtf8Out) {
  EXPECT_EQ(EscapeControls("\x9b"
                           "31m"),
            R"(\x9b31m)");
  EXPECT_EQ(EscapeControls("a\xe2\x82"), R"(a\xe2\x82)");      // cut off
  EXPECT_EQ(EscapeControls("\xe2\x1b[0m"), R"(\xe2\x1b[0m)");  // hides nothing behind it
}

}  // namespace
}  // namespace agentr
