#include "common/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentr {
namespace {

using ::testing::ElementsAre;

TEST(TrimTest, DropsBlanksAtBothEnds) {
  EXPECT_EQ(Trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(Trim("a"), "a");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim("'don't-'", "'-"), "don't");
}

TEST(SplitTest, PiecesAreTrimmedAndMayBeEmpty) {
  EXPECT_THAT(SplitText(" a , b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(SplitText("", ','), ElementsAre(""));
  EXPECT_THAT(SplitText("a,", ','), ElementsAre("a", ""));
}

TEST(SplitTest, WordsAreNotEmpty) {
  EXPECT_THAT(SplitWords("  two\t words \n"), ElementsAre("two", "words"));
  EXPECT_THAT(SplitWords("_a__b c", "_"), ElementsAre("a", "b c"));
  EXPECT_THAT(SplitWords(" "), ElementsAre());
}

TEST(AsciiLowerTest, LeavesOtherBytesAlone) {
  EXPECT_EQ(AsciiLower("ABZ [@`{ É 9"), "abz [@`{ É 9");
  EXPECT_TRUE(EqualIgnoringCase("Content-LENGTH", "content-length"));
  EXPECT_FALSE(EqualIgnoringCase("host", "hosts"));
  EXPECT_TRUE(IsAsciiLetter('Z'));
  EXPECT_FALSE(IsAsciiLetter('['));
}

TEST(ReplaceAllTest, GoesOnBehindWhatItWrote) {
  std::string text = "aXbX";
  ReplaceAll(text, "X", "XX");
  EXPECT_EQ(text, "aXXbXX");
}

TEST(ParseNumberTest, TakesTheWholeText) {
  EXPECT_EQ(ParseNumber<int>("-12"), -12);
  EXPECT_EQ(ParseNumber<double>("2.5"), 2.5);
  for (const char* bad : {"", " 1", "1 ", "+1", "1x", "x", "2.5", "9999999999"}) {
    EXPECT_EQ(ParseNumber<int>(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(ParseNumber<uint16_t>("-1"), std::nullopt);
}

TEST(PercentDecoded, ReplacesEscapesAndKeepsTheRest) {
  EXPECT_EQ(PercentDecoded("a%40b%2Fc%2f"), "a@b/c/");
  EXPECT_EQ(PercentDecoded("100%"), "100%");
  EXPECT_EQ(PercentDecoded("%4"), "%4");
  EXPECT_EQ(PercentDecoded("%zz%4g%-1"), "%zz%4g%-1");
  EXPECT_EQ(PercentDecoded(""), "");
}

TEST(EscapeHtmlTest, WritesWhatMarkupIsMadeOf) {
  EXPECT_EQ(EscapeHtml("<a b=\"c\">d & 'e'</a>"),
            "&lt;a b=&#34;c&#34;&gt;d &amp; &#39;e&#39;&lt;/a&gt;");
}

TEST(OneLineTest, TurnsLineBreaksAndTabsIntoSpaces) {
  EXPECT_EQ(OneLine("a\nb\tc\rd e"), "a b c d e");
  EXPECT_EQ(OneLine(""), "");
}

TEST(FitColumnsTest, CountsCharactersAndTheMark) {
  EXPECT_EQ(FitColumns("äöüß", 4), "äöüß");
  EXPECT_EQ(FitColumns("äöüßx", 4), "äöü…");
  EXPECT_EQ(FitColumns("äöüßx", 4, ""), "äöüß");
  EXPECT_EQ(FitColumns("abcdef", 5, "..."), "ab...");
  EXPECT_EQ(FitColumns("ab", 1), "…");
  EXPECT_EQ(FitColumns("ab", 0, ""), "");
  EXPECT_EQ(FitColumns("", 3), "");
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
