#include <gtest/gtest.h>

#include "tests/lm/tokenizer/byte_tokenizer.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"

namespace agentr {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

TEST(IncrementalDecoder, IllFormedBytesBecomeOneReplacementPerSubsequence) {
  const ByteTokenizer tokenizer;
  IncrementalDecoder decoder(tokenizer);
  std::string text;
  for (const int32_t byte : {0xE2, 0x82, 0x61, 0x80, 0xC0, 0xAF, 0xED, 0xA0, 0x80, 0xF0, 0x9F}) {
    text += decoder.Add(byte);
  }
  std::string expected = kReplacement + "a";
  for (int i = 0; i < 6; ++i) expected += kReplacement;
  EXPECT_EQ(text, expected);
  EXPECT_EQ(decoder.Finish(), kReplacement);
  EXPECT_EQ(decoder.Finish(), "");
}

// Metaspace's decoder leaves out the space before a text.
TEST(IncrementalDecoder, KeepsTheSpaceOfATextThatGoesOn) {
  const auto tokenizer = GoldenTokenizer("mistral");
  const int32_t id = tokenizer->Encode(" a").front();
  ASSERT_EQ(tokenizer->TokenBytes(id).front(), ' ');
  EXPECT_EQ(IncrementalDecoder(*tokenizer).Add(id), tokenizer->TokenBytes(id).substr(1));
  EXPECT_EQ(IncrementalDecoder(*tokenizer, true, /*continues_text=*/true).Add(id),
            tokenizer->TokenBytes(id));
}

TEST(IncrementalDecoder, SkipsSpecialTokensIfAsked) {
  const ByteTokenizer tokenizer;
  EXPECT_EQ(IncrementalDecoder(tokenizer).Add(ByteTokenizer::kEos), "");
  EXPECT_EQ(IncrementalDecoder(tokenizer, false).Add(ByteTokenizer::kEos), "<eos>");
}

}  // namespace
}  // namespace agentr
