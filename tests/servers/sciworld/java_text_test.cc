#include "servers/sciworld/java_text.h"

#include <gtest/gtest.h>

namespace agentr {
namespace {

TEST(JavaText, GoesThroughUtf16) {
  const std::string text = std::string("a\u00e9\u20ac\U0001F600") + '\0' + "z";
  const std::u16string utf16 = std::u16string(u"a\u00e9\u20ac\xD83D\xDE00") + u'\0' + u"z";
  EXPECT_EQ(Utf16(text), utf16);
  EXPECT_EQ(Utf8(utf16), text);
  EXPECT_EQ(Utf16(""), u"");
  EXPECT_EQ(Utf8(u""), "");
}

TEST(JavaText, WhatIsNoTextIsReplaced) {
  EXPECT_EQ(Utf16("a\xff"
                  "b"),
            u"a\uFFFDb");
  const char16_t half[] = {u'a', 0xD83D, u'b'};
  EXPECT_EQ(Utf8({half, 3}),
            "a\uFFFD"
            "b");
}

}  // namespace
}  // namespace agentr
