// What other trainers got wrong, and nobody noticed for weeks.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/training/data/row_helpers.h"
#include "training/data/batch_builder.h"
#include "training/data/row_encoder.h"
#include "training/data/row_order.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const RowTokenizer& text, const std::string& line) {
  return FatalMessage([&] {
    RowCounts counts;
    RowEncoder(text, 1000, TooLong::kCut).EncodeTurns(ParseRow(line), counts);
  });
}

TEST(KnownMistakes, AMaskOfZeros) {
  const std::string cure = "nothing to learn";
  EXPECT_THAT(FatalMessage([] {
                ParseRow(R"({"messages":[{"role":"user","content":"a"},)"
                         R"({"role":"assistant","content":"b","weight":0}]})");
              }),
              HasSubstr(cure));
  EXPECT_THAT(FatalMessage([] { ParseRow(R"({"messages":[{"role":"user","content":"a"}]})"); }),
              HasSubstr(cure));
  EXPECT_THAT(FatalMessage([] { ParseRow(R"({"ids":[1,2,3],"loss":[0,0,0]})"); }), HasSubstr(cure));
  EXPECT_THAT(FatalMessage([] { ParseRow(R"({"ids":[1,2,3],"loss":[1,0,0]})"); }), HasSubstr(cure));
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
    EXPECT_EQ(Refusal(text, row("")), "no error") << kind;
    EXPECT_THAT(Refusal(text, row(spelling)), HasSubstr("a doubled BOS")) << kind;
    const std::string id = std::to_string(bos);
    EXPECT_THAT(Refusal(text, "{\"ids\":[" + id + "," + id + "," + eot + "],\"loss\":[0,0,1]}"),
                HasSubstr("a doubled BOS"));
    EXPECT_EQ(Refusal(text, "{\"ids\":[" + id + ",5," + eot + "],\"loss\":[0,0,1]}"), "no error");
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
  EXPECT_EQ(Refusal(text, "{\"ids\":[5,6," + end + "],\"loss\":[0,1,1]}"), "no error");
  EXPECT_THAT(Refusal(text, "{\"ids\":[5,6," + end + "],\"loss\":[0,1,0]}"),
              HasSubstr("does not train the end of the turn"));
}

TEST(KnownMistakes, ATemplateWithoutAnEndOfTheTurn) {
  nlohmann::json files = GoldenTokenizerFiles("gpt2");
  files["tokenizer_config"].erase("eos_token");
  RowTokenizer text;
  text.tokenizer = LoadTokenizer(files);
  text.chat = ChatTemplate::Make("plain", *text.tokenizer);
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

// Rows side by side in one batch must not see each other: no segment has another row's as its
// parent.
TEST(KnownMistakes, PackedRowsThatSeeEachOther) {
  RandomStream random(5);
  std::vector<TrainingRow> rows;
  for (int i = 0; i < 40; ++i) rows.push_back(RandomRow(random, 9, 3));
  const Batch batch = BuildBatch(PointersTo(rows), false);
  ASSERT_EQ(batch.segments.size(), rows.size());
  for (const Segment& segment : batch.segments) {
    EXPECT_EQ(segment.parent, -1);
    EXPECT_EQ(batch.positions[static_cast<size_t>(segment.begin)], 0);
  }
  // And no target is predicted by the last token of the row before.
  for (const Target& target : batch.targets) {
    const auto segment = std::ranges::find_if(
        batch.segments, [&](const Segment& s) { return target.index < s.end; });
    EXPECT_LT(target.index + 1, segment->end);
  }
}

TEST(KnownMistakes, RowsSkippedOrRepeatedOnResume) {
  RowPool pool;
  for (uint32_t i = 0; i < 50; ++i) {
    pool.rows.push_back({0, i});
    pool.group_begins.push_back(i);
  }
  for (int64_t stop = 0; stop <= 8; ++stop) {  // 8 steps of an epoch
    std::multiset<uint32_t> seen;
    RowOrder before({pool}, 7, 1), after({pool}, 7, 1);
    for (int64_t i = 0; i < 8; ++i) {
      for (const RowId& row : (i < stop ? before : after).Step(i)) seen.insert(row.row);
    }
    EXPECT_EQ(seen.size(), 50U);
    EXPECT_EQ(std::set<uint32_t>(seen.begin(), seen.end()).size(), 50U) << stop;
  }
}

}  // namespace
}  // namespace agentr
