#include "common/python_text.h"

#include <gtest/gtest.h>

namespace agentr {
namespace {

// Expected values are what Python 3.11 prints for repr(x), s.strip(), s.lower(), json.dumps(s).

TEST(PythonText, Floats) {
  EXPECT_EQ(PythonFloat(20), "20.0");
  EXPECT_EQ(PythonFloat(877.8), "877.8");
  EXPECT_EQ(PythonFloat(0), "0.0");
  EXPECT_EQ(PythonFloat(-0.0), "-0.0");
  EXPECT_EQ(PythonFloat(2.0 / 3), "0.6666666666666666");
  EXPECT_EQ(PythonFloat(0.0001), "0.0001");
  EXPECT_EQ(PythonFloat(0.00001), "1e-05");
  EXPECT_EQ(PythonFloat(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(PythonFloat(1e15), "1000000000000000.0");
  EXPECT_EQ(PythonFloat(1e16), "1e+16");
}

TEST(PythonText, Strip) {
  EXPECT_EQ(PythonStrip(" \t\n a b \r"), "a b");
  EXPECT_EQ(PythonStrip("\u00a0\u2003x\u3000"), "x");
  EXPECT_EQ(PythonStrip("\x1c\x1fx\u0085"), "x");
  EXPECT_EQ(PythonStrip("\u200bx"), "\u200bx");  // zero width space is none
  EXPECT_EQ(PythonStrip("  "), "");
  EXPECT_EQ(PythonStrip(""), "");
}

TEST(PythonText, Lower) {
  EXPECT_EQ(PythonLower("Blue 3XL"), "blue 3xl");
  EXPECT_EQ(PythonLower("ÀÉ Ñ"), "àé ñ");
  EXPECT_EQ(PythonLower("İ"), "i̇");
  EXPECT_EQ(PythonLower("ΑΣ"), "ας");
}

TEST(PythonText, Repr) {
  EXPECT_EQ(PythonRepr("navy blue"), "'navy blue'");
  EXPECT_EQ(PythonRepr("men's"), "\"men's\"");
  EXPECT_EQ(PythonRepr("5'6\""), "'5\\'6\"'");
  EXPECT_EQ(PythonRepr("6\""), "'6\"'");
  EXPECT_EQ(PythonRepr("a\\b\n\t\x01"), "'a\\\\b\\n\\t\\x01'");
  EXPECT_EQ(PythonRepr("é\u00a0\u2028\U0001F600\U000E0001"), "'é\\xa0\\u2028😀\\U000e0001'");
}

// Expected values are those of s.encode().decode("unicode-escape").encode("latin-1").decode().
TEST(PythonText, Unescape) {
  EXPECT_EQ(PythonUnescape("plain é"), "plain é");
  EXPECT_EQ(PythonUnescape(R"(a\nb\\c\"d\'e\t)"), "a\nb\\c\"d'e\t");
  EXPECT_EQ(PythonUnescape(R"(\x41\u0042\U00000043\104\0478)"), "ABCD'8");
  EXPECT_EQ(PythonUnescape(R"(\xc3\xa9)"), "é") << "two bytes of UTF-8";
  EXPECT_EQ(PythonUnescape("two\\\nlines"), "twolines");
  EXPECT_EQ(PythonUnescape(R"(\d and \é)"), R"(\d and \é)") << "no escapes";
  for (const std::string wrong : {R"(\n\)", R"(\n\x4)", R"(\n\u20ac)", R"(\n\xe9)", R"(\n\777)",
                                  R"(\n\N{BULLET})", R"(\n\xg1)"}) {
    EXPECT_EQ(PythonUnescape(wrong), wrong) << "Python raises an error";
  }
}

TEST(PythonText, Json) {
  std::string out;
  AppendPythonJson("a\"b\\c\n\t\x01/\x7f é 日 😀", out);
  EXPECT_EQ(out, "\"a\\\"b\\\\c\\n\\t\\u0001/\\u007f \\u00e9 \\u65e5 \\ud83d\\ude00\"");
}

}  // namespace
}  // namespace agentr
