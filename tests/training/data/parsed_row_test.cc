#include "training/data/parsed_row.h"

#include <gmock/gmock.h>

#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One letter per message: "." not trained; o other, g good, r revision turn, c corrected action.
std::string Flags(const std::string& line) {
  const ParsedRow row = ParseRow(line);
  std::string flags;
  for (const ParsedRow::Trained& learned : row.learned) {
    flags += learned.trained ? "ogrc"[static_cast<size_t>(learned.kind)] : '.';
  }
  return flags;
}

std::string Refusal(const std::string& line) {
  return FatalErrorOf([&] { ParseRow(line); });
}

// {"messages": [user, assistant with `flags[0]`, user, …]} and `more` members.
std::string Messages(const std::vector<std::string>& flags, const std::string& more = "") {
  std::string text;
  for (const std::string& flag : flags) {
    text += R"({"role":"user","content":"u"},{"role":"assistant","content":"a")" +
            (flag.empty() ? "" : "," + flag) + "},";
  }
  text.pop_back();
  return "{\"messages\":[" + text + "]" + more + "}";
}

constexpr char kGoodRow[] = R"(,"provenance":{"task":3,"nodes":{"good":5,"bad":null}})";
constexpr char kRevisionRow[] = R"(,"provenance":{"task":3,"nodes":{"good":5,"bad":7}})";

TEST(ParseRow, OpenAiTrainsWhatHasNoWeight) {
  EXPECT_EQ(Flags(Messages({"", ""})), ".o.o");
  EXPECT_EQ(Flags(Messages({R"("weight":0)", ""})), "...o");
  EXPECT_EQ(Flags(Messages({R"("weight":0)", R"("weight":1)"})), "...o");
  EXPECT_EQ(Flags(Messages({R"("weight":0.0)", R"("weight":1.0)"})), "...o");
}

TEST(ParseRow, LossStandsBesideWeight) {
  EXPECT_EQ(Flags(Messages({R"("loss":false)", R"("loss":true)"})), "...o");
  EXPECT_EQ(Flags(Messages({"", R"("loss":1)"})), "...o");
  EXPECT_EQ(Flags(Messages({R"("loss":null)", R"("loss":true)"})), "...o");
  EXPECT_EQ(Flags(Messages({R"("loss":false,"weight":0)", R"("loss":true,"weight":1)"})), "...o");
  EXPECT_THAT(Refusal(Messages({R"("loss":true,"weight":0)"})), HasSubstr("different values"));
  EXPECT_THAT(Refusal(Messages({R"("weight":0.5)"})),
              HasSubstr("\"weight\" is 0.5; it must be 0 or 1"));
  EXPECT_THAT(Refusal(Messages({R"("loss":"yes")"})), HasSubstr("it must be 0 or 1"));
}

TEST(ParseRow, ShareGpt) {
  const auto row = [](const std::string& first, const std::string& second) {
    return R"({"conversations":[{"from":"human","value":"u","loss":null},{"from":"gpt","value":"Ok.")" +
           first + R"(},{"from":"human","value":"v"},{"from":"gpt","value":"a")" + second +
           R"(}],"item_id":"textcraft_3"})";
  };
  EXPECT_EQ(Flags(row(R"(,"loss":false)", R"(,"loss":true)")), "...o");
  EXPECT_EQ(Flags(row("", R"(,"loss":true)")), "...o");
  const ParsedRow parsed = ParseRow(row(R"(,"loss":false)", R"(,"loss":true)"));
  EXPECT_EQ(parsed.format, DataFormat::kShareGpt);
  EXPECT_EQ(parsed.messages[1], (Message{"assistant", "Ok."}));
  EXPECT_EQ(parsed.messages[2], (Message{"user", "v"}));
  EXPECT_EQ(Flags(R"({"conversations":[{"from":"system","value":"s"},{"from":"human","value":"u"},)"
                  R"({"from":"gpt","value":"a"}]})"),
            "..o");
}

TEST(ParseRow, AgentR) {
  const auto row = [](const std::string& low) {
    return R"({"task_num":3,"revise_log":[{"role":"user","content":"i"},)"
           R"({"role":"assistant","content":"Ok."},{"role":"user","content":"o"},)"
           R"({"role":"assistant","content":"bad","loss":false},{"role":"user","content":"o"},)"
           R"({"role":"assistant","content":"oh","loss":true},{"role":"user","content":"ok."},)"
           R"({"role":"assistant","content":"a","loss":true}],"high_log":[],"low_log":)" +
           low + "}";
  };
  EXPECT_EQ(Flags(row(R"([{"role":"user","content":"x"}])")), ".....r.c");
  EXPECT_EQ(Flags(row("[]")), ".....g.g");
  EXPECT_EQ(ParseRow(row("[]")).format, DataFormat::kAgentR);
  EXPECT_THAT(Refusal(R"({"revise_log":[{"role":"assistant","content":"Ok."}],"low_log":[]})"),
              HasSubstr("nothing to learn"));
}

TEST(ParseRow, KindsComeFromTheProvenance) {
  const std::string no = R"("weight":0)", yes = R"("weight":1)";
  EXPECT_EQ(Flags(Messages({no, yes, yes}, kGoodRow)), "...g.g");
  EXPECT_EQ(Flags(Messages({no, no, yes, yes, yes}, kRevisionRow)), ".....r.c.c");
  // A step that changed nothing is not trained.
  EXPECT_EQ(Flags(Messages({no, no, yes, no, yes}, kRevisionRow)), ".....r...c");
  const std::string prefix =
      R"(,"provenance":{"task":3,"train_prefix":true,"nodes":{"good":5,"bad":7}})";
  EXPECT_EQ(Flags(Messages({no, yes, no, yes, yes}, prefix)), "...o...r.c");
  // Rows that train the shared prefix too, and the first message.
  EXPECT_EQ(Flags(Messages({yes, yes, no, yes, yes}, kRevisionRow)), ".o.o...r.c");
  EXPECT_EQ(Flags(Messages({no, yes}, R"(,"provenance":{"of":"others"})")), "...o");
}

TEST(ParseRow, TokenRows) {
  const std::string tokens = R"({"ids":[5,6,7,8,9,10],"loss":[1,0,1,1,0,1])";
  const ParsedRow row = ParseRow(tokens + R"(,"tokenizer":"abc")" + kRevisionRow + "}");
  EXPECT_EQ(row.format, DataFormat::kTokens);
  EXPECT_EQ(row.tokenizer, "abc");
  EXPECT_THAT(row.tokens.ids, ElementsAre(5, 6, 7, 8, 9, 10));
  EXPECT_THAT(row.tokens.trained, ElementsAre(TrainedSpan{2, 4, TargetKind::kRevision},
                                              TrainedSpan{5, 6, TargetKind::kCorrected}));
  EXPECT_THAT(
      ParseRow(tokens + kGoodRow + "}").tokens.trained,
      ElementsAre(TrainedSpan{2, 4, TargetKind::kGood}, TrainedSpan{5, 6, TargetKind::kGood}));
  EXPECT_THAT(ParseRow(R"({"ids":[1,2],"loss":[false,true]})").tokens.trained,
              ElementsAre(TrainedSpan{1, 2, TargetKind::kOther}));
}

TEST(ParseRow, TokenRowsThatTellTheirRevisionTurn) {
  const std::string tokens = R"({"ids":[4,5,6,7,8,9,10],"loss":[0,1,0,1,1,0,1])";
  EXPECT_THAT(
      ParseRow(tokens + R"(,"revision":[3,5])" + kRevisionRow + "}").tokens.trained,
      ElementsAre(TrainedSpan{1, 2, TargetKind::kOther}, TrainedSpan{3, 5, TargetKind::kRevision},
                  TrainedSpan{6, 7, TargetKind::kCorrected}))
      << "the trained prefix stands before it";
  EXPECT_THAT(
      ParseRow(tokens + R"(,"revision":[3,4])" + kRevisionRow + "}").tokens.trained,
      ElementsAre(TrainedSpan{1, 2, TargetKind::kOther}, TrainedSpan{3, 4, TargetKind::kRevision},
                  TrainedSpan{4, 5, TargetKind::kCorrected},
                  TrainedSpan{6, 7, TargetKind::kCorrected}));
  EXPECT_EQ(ParseRow(tokens + R"(,"revision":null)" + kGoodRow + "}").tokens.trained[0].kind,
            TargetKind::kGood);
  EXPECT_THAT(Refusal(tokens + R"(,"revision":[5,3])" + kRevisionRow + "}"),
              HasSubstr("\"revision\" is [5,3]"));
}

TEST(ParseRow, RowsOfTheOldKindAreRefused) {
  const auto row = [](const std::string& version) {
    return Messages({""}, R"(,"provenance":{"tree":"t.json","task":3)" + version +
                              R"(,"nodes":{"good":5,"bad":7}})");
  };
  EXPECT_THAT(Refusal(row("")), HasSubstr("path_collect --input_dir"));
  EXPECT_THAT(Refusal(row(R"(,"version":1)")), HasSubstr("a row of version 1"));
  EXPECT_EQ(Flags(row(R"(,"version":2)")), ".r");
  EXPECT_EQ(Flags(Messages({""}, R"(,"provenance":{"by":"others"})")), ".o");
}

TEST(ParseRow, ContentMayBeAListOfParts) {
  const ParsedRow row = ParseRow(
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text",)"
      R"("text":"b"}]},{"role":"assistant","content":"c"}]})");
  EXPECT_EQ(row.messages[0].content, "ab");
  EXPECT_THAT(Refusal(R"({"messages":[{"role":"user","content":[{"type":"image"}]}]})"),
              HasSubstr("only text can be trained"));
  EXPECT_THAT(Refusal(R"({"messages":[{"role":"assistant","content":null}]})"),
              HasSubstr("tool calls"));
}

TEST(ParseRow, SaysWhatIsWrongAndTheCure) {
  EXPECT_THAT(Refusal("{\"messages\": ["), HasSubstr("not a JSON value at column"));
  EXPECT_THAT(Refusal("  [{}]"), HasSubstr("jq -c '.[]'"));
  EXPECT_THAT(Refusal("7"), HasSubstr("not a JSON object"));
  EXPECT_THAT(Refusal("{}"), HasSubstr("none of the formats"));
  EXPECT_THAT(Refusal(R"({"segments":[]})"), HasSubstr("path_collect --format tokens --model_dir"));
  EXPECT_THAT(Refusal(R"({"tree":"x","nodes":{}})"), HasSubstr("the provenance of a row"));
  EXPECT_THAT(Refusal(R"({"messages":[]})"), HasSubstr("is empty"));
  EXPECT_THAT(Refusal(R"({"messages":[5]})"), HasSubstr("not an object"));
  EXPECT_THAT(Refusal(R"({"messages":[{"content":"x"}]})"), HasSubstr("\"role\" is missing"));
  EXPECT_THAT(Refusal(R"({"messages":[{"role":1,"content":"x"}]})"),
              HasSubstr("\"role\" is not a string"));
  EXPECT_THAT(Refusal(R"({"ids":[1,2],"loss":[1]})"), HasSubstr("2 ids and 1 values"));
  EXPECT_THAT(Refusal(R"({"ids":[1,-2],"loss":[1,1]})"), HasSubstr("-2, which is not a token id"));
  EXPECT_THAT(Refusal(R"({"ids":[1,3000000000],"loss":[1,1]})"), HasSubstr("not a token id"));
  EXPECT_THAT(Refusal(R"({"ids":[1,2],"loss":[0,0.5]})"), HasSubstr("\"loss\" contains 0.5"));
  EXPECT_THAT(Refusal(R"({"ids":[1,2],"loss":[0,1e999]})"), HasSubstr("range of double"));
}

}  // namespace
}  // namespace agentr
