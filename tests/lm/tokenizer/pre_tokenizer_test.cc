#include "lm/tokenizer/pre_tokenizer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/error.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using Pieces = std::vector<std::string>;

Pieces Split(const json& field, std::string_view text) {
  Pieces pieces;
  PreTokenizer(TokenizerJson(field, "pre_tokenizer")).Split({text, true}, [&](const Piece& piece) {
    pieces.emplace_back(piece.text);
  });
  return pieces;
}

json SplitAt(const json& pattern, const std::string& behavior, bool invert = false) {
  return {{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}, {"invert", invert}};
}

// As tokenizers 0.23.3 cuts it.
TEST(PreTokenizer, HasFiveBehaviors) {
  const json dash = {{"String", "-"}};
  const std::string text = "the-final--countdown-";
  EXPECT_EQ(Split(SplitAt(dash, "Removed"), text), (Pieces{"the", "final", "countdown"}));
  EXPECT_EQ(Split(SplitAt(dash, "Removed", true), text), (Pieces{"-", "-", "-", "-"}));
  EXPECT_EQ(Split(SplitAt(dash, "Isolated"), text),
            (Pieces{"the", "-", "final", "-", "-", "countdown", "-"}));
  EXPECT_EQ(Split(SplitAt(dash, "MergedWithPrevious"), text),
            (Pieces{"the-", "final-", "-", "countdown-"}));
  EXPECT_EQ(Split(SplitAt(dash, "MergedWithPrevious", true), text),
            (Pieces{"the", "-final", "-", "-countdown", "-"}));
  EXPECT_EQ(Split(SplitAt(dash, "MergedWithNext"), text),
            (Pieces{"the", "-final", "-", "-countdown", "-"}));
  EXPECT_EQ(Split(SplitAt(dash, "MergedWithNext", true), text),
            (Pieces{"the-", "final-", "-", "countdown-"}));
  EXPECT_EQ(Split(SplitAt(dash, "Contiguous"), text),
            (Pieces{"the", "-", "final", "--", "countdown", "-"}));
}

TEST(PreTokenizer, PatternsAreRubys) {
  EXPECT_EQ(Split(SplitAt({{"Regex", "x*"}}, "Isolated"), "axxé"), (Pieces{"a", "xx", "é"}));
  EXPECT_EQ(Split(SplitAt({{"Regex", "^b.$"}}, "Isolated"), "a\nbc\nd"),
            (Pieces{"a\n", "bc", "\nd"}));
  EXPECT_EQ(Split(SplitAt({{"String", "."}}, "Isolated"), "a.b"), (Pieces{"a", ".", "b"}));
  EXPECT_EQ(Split(SplitAt({{"Regex", R"(\s\\s)"}}, "Isolated"), "a\u2003\\sb\u180e\\s"),
            (Pieces{"a", "\u2003\\s", "b\u180e\\s"}));
}

// Backtracking over a long text must not run out of stack.
TEST(PreTokenizer, TakesLongTexts) {
  const json nested = SplitAt({{"Regex", "(?:a|b(?=a|b|$))+"}}, "Isolated");
  const std::string text(1 << 18, 'a');
  EXPECT_EQ(Split(nested, text), Pieces{text});
  const json gpt2 = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  EXPECT_EQ(Split(gpt2, std::string(1 << 20, ' ')), Pieces{std::string(1 << 20, ' ')});
}

TEST(PreTokenizer, MetaspaceOfOlderFiles) {
  json field = {{"type", "Metaspace"}, {"replacement", "_"}, {"add_prefix_space", true}};
  EXPECT_EQ(Split(field, "a b"), (Pieces{"_a", "_b"}));
  field["add_prefix_space"] = false;
  EXPECT_EQ(Split(field, "a b"), (Pieces{"a", "_b"}));
}

TEST(PreTokenizer, DigitsTogether) {
  EXPECT_EQ(Split({{"type", "Digits"}}, "a12b٣"), (Pieces{"a", "12", "b", "٣"}));
}

TEST(PreTokenizer, RefusesAStepAfterByteLevel) {
  const json field = {{"type", "Sequence"},
                      {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}};
  EXPECT_THROW(PreTokenizer(TokenizerJson(field, "x")), FatalError);
}

}  // namespace
}  // namespace agentr
