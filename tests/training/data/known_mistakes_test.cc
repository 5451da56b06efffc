// What other trainers got wrong, and nobody noticed for weeks. Rows that see each other:
// batch_builder_test.cc; rows that are skipped or repeated on resume: row_order_test.cc.
#include <gmock/gmock.h>

#include "tests/training/data/row_helpers.h"
#include "training/data/row_encoder.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const RowTokenizer& text, const std::string& line) {
  return FatalErrorOf([&] {
    RowCounts counts;
    RowEncoder(text, 1000, TooLong::kCut).EncodeTurns(ParseRow(line), counts);
  });
}

TEST(KnownMistakes, AMaskOfZeros) {
  const std::string cure = "nothing to learn";
  EXPECT_THAT(FatalErrorOf([] {
                ParseRow(R"({"messages":[{"role":"user","content":"a"},)"
                         R"({"role":"assistant","content":"b","weight":0}]})");
              }),
              HasSubstr(cure));
  EXPECT_THAT(FatalErrorOf([] { ParseRow(R"({"messages":[{"role":"user","content":"a"}]})"); }),
              HasSubstr(cure));
  EXPECT_THAT(FatalErrorOf([] { ParseRow(R"({"ids":[1,2,3],"loss":[0,0,0]})"); }), HasSubstr(cure));
  EXPECT_THAT(FatalErrorOf([] { ParseRow(R"({"ids":[1,2,3],"loss":[1,0,0]})"); }), HasSubstr(cure));
}

TEST(KnownMistakes, ADoubledBos) {
  for (const char* kind : {"llama3", "mistral", "llama2"}) {
    const RowTokenizer text = GoldenRowTokenizer(kind);
    const int32_t bos = text.tokenizer->bos().value();
    const std::string spelling = text.tokenizer->TokenBytes(bos);
    const std::string eot = std::to_string(text.chat->stop_tokens().front());
    const auto row = [&](const std::string& begin) {
      return "{\"messages\":[{\"role\":\"user\",\"content\":\"" + begin +
             "Hi\"},{\"role\":\"assistant\",\"content\":\"a\"}]}";
    };
    EXPECT_EQ(Refusal(text, row("")), "") << kind;
    EXPECT_THAT(Refusal(text, row(spelling)), HasSubstr("a doubled BOS")) << kind;
    const std::string id = std::to_string(bos);
    EXPECT_THAT(Refusal(text, "{\"ids\":[" + id + "," + id + "," + eot + "],\"loss\":[0,0,1]}"),
                HasSubstr("a doubled BOS"));
    EXPECT_EQ(Refusal(text, "{\"ids\":[" + id + ",5," + eot + "],\"loss\":[0,0,1]}"), "");
  }
}

TEST(KnownMistakes, TheEndOfTheTurnIsNotTrained) {
  for (const char* kind : {"llama3", "qwen2", "mistral", "gpt2"}) {
    const RowTokenizer text = GoldenRowTokenizer(kind);
    RowCounts counts;
    const ParsedRow row =
        ParseRow(R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},)"
                 R"({"role":"user","content":"c"},{"role":"assistant","content":"d"}]})");
    const auto rows = RowEncoder(text, 1000, TooLong::kCut).EncodeTurns(row, counts);
    ASSERT_EQ(rows.size(), 1U);
    const TrainingRow& tokens = rows[0];
    ASSERT_EQ(tokens.trained.size(), 2U);
    for (const TrainedSpan& span : tokens.trained) {
      const int32_t last = tokens.ids[static_cast<size_t>(span.end) - 1];
      EXPECT_TRUE(text.tokenizer->IsSpecial(last)) << kind;
      EXPECT_THAT(text.chat->stop_tokens(), ::testing::Contains(last)) << kind;
    }
  }
  // A token row that stops one token early.
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  const std::string end = std::to_string(text.tokenizer->Id("<|im_end|>").value());
  EXPECT_EQ(Refusal(text, "{\"ids\":[5,6," + end + "],\"loss\":[0,1,1]}"), "");
  EXPECT_THAT(Refusal(text, "{\"ids\":[5,6," + end + "],\"loss\":[0,1,0]}"),
              HasSubstr("does not train the end of the turn"));
}

TEST(KnownMistakes, ATemplateWithoutAnEndOfTheTurn) {
  nlohmann::json files = GoldenTokenizerFiles("gpt2");
  files["tokenizer_config"].erase("eos_token");
  const RowTokenizer text = RowTokenizerOf(LoadTokenizer(files), "plain");
  EXPECT_THAT(Refusal(text, R"({"messages":[{"role":"user","content":"a"},)"
                            R"({"role":"assistant","content":"b"}]})"),
              HasSubstr("plain cannot mark the end of message 1"));
}

TEST(KnownMistakes, TokensOfAnotherTokenizer) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  const std::string end = std::to_string(text.tokenizer->Id("<|im_end|>").value());
  EXPECT_THAT(Refusal(text, "{\"ids\":[1," + end + "],\"loss\":[0,1],\"tokenizer\":\"other\"}"),
              HasSubstr("of another tokenizer (its hash begins with other"));
  EXPECT_THAT(Refusal(text, R"({"ids":[1,151643],"loss":[0,1]})"),
              HasSubstr("of another tokenizer: it has the id 151643"));
}

}  // namespace
}  // namespace agentr
