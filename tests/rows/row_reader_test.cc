#include "rows/row_reader.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReadRow, OfAgentRAMessageWithoutAMarkIsNotTrained) {
  const Row row = ReadRow(
      R"({"task_num":7,"revise_log":[{"role":"user","content":"u"},)"
      R"({"role":"assistant","content":"OK"},{"role":"assistant","content":"a","loss":true}],)"
      R"("low_log":[]})");
  EXPECT_EQ(row.format, DataFormat::kAgentR);
  EXPECT_THAT(row.trained, ElementsAre(false, false, true));
  EXPECT_EQ(row.bad_path, BadPath::kNone);
  EXPECT_EQ(row.task, "7");
  EXPECT_EQ(row.provenance, nullptr);
}

std::string Refusal(const std::string& line) {
  try {
    ReadRow(line);
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::kFile);
    return error.what();
  }
  return "";
}

TEST(ReadRow, HonoursWhatOthersSayOfMessages) {
  const Row mixed = ReadRow(
      R"({"conversations":[{"role":"developer","content":"s"},{"role":"user","content":"u"},)"
      R"({"role":"assistant","content":[{"type":"text","text":"a"}],"training":false},)"
      R"({"from":"human","value":"v"},{"from":"gpt","value":"b","train":true}]})");
  EXPECT_THAT(mixed.messages,
              ElementsAre(Message{"system", "s"}, Message{"user", "u"}, Message{"assistant", "a"},
                          Message{"user", "v"}, Message{"assistant", "b"}));
  EXPECT_THAT(mixed.trained, ElementsAre(false, false, false, false, true));
  const Row turned =
      ReadRow(R"({"system":"s","tools":[],"messages":[{"from":"human","value":"u"},)"
              R"({"role":"assistant","content":"a","tool_calls":null,"reasoning_content":""}]})");
  EXPECT_THAT(turned.messages,
              ElementsAre(Message{"system", "s"}, Message{"user", "u"}, Message{"assistant", "a"}));
  EXPECT_THAT(turned.trained, ElementsAre(false, false, true));
}

TEST(ReadRow, AThoughtMayStandApart) {
  for (const char* name : {"reasoning_content", "thinking", "reasoning"}) {
    const std::string row =
        R"({"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a",")" +
        std::string(name) + R"(":"hm"}]})";
    EXPECT_THAT(ReadRow(row).messages,
                ElementsAre(Message{"user", "u"}, Message{"assistant", "a", "hm"}));
  }
  for (const char* bad : {R"({"role":"user","content":"u","reasoning_content":"hm"})",
                          R"({"role":"assistant","content":"u","reasoning_content":["hm"]})"}) {
    EXPECT_THAT(Refusal(std::string(R"({"messages":[)") + bad + "]}"), HasSubstr("thought"));
  }
}

TEST(ReadRow, RefusesWhatItWouldLeaveOut) {
  const std::string talk = R"("messages":[{"role":"user","content":"u"},{"role":"assistant",)"
                           R"("content":"a")";
  for (const char* said : {R"("tool_calls":[{"id":1}])", R"("function_call":{"name":"f"})"}) {
    EXPECT_THAT(Refusal("{" + talk + "," + said + "}]}"), HasSubstr("would be left out")) << said;
  }
  EXPECT_THAT(Refusal(R"({"tools":[{"type":"function"}],)" + talk + "}]}"), HasSubstr("\"tools\""));
  for (const char* role : {"function_call", "observation", "function"}) {
    EXPECT_THAT(
        Refusal(std::string(R"({"conversations":[{"from":")") + role + R"(","value":"x"}]})"),
        HasSubstr(role));
  }
  EXPECT_THAT(Refusal("{" + talk + R"(,"weight":1,"train":false}]})"), HasSubstr("different"));
  EXPECT_THAT(Refusal(R"({"system":"s","messages":[{"role":"system","content":"t"}]})"),
              HasSubstr("join them"));
}

TEST(ReadRow, SegmentsHaveTextsOrTokens) {
  const Row row = ReadRow(
      R"({"segments":[{"role":"user","loss":false,"text":"u"},)"
      R"({"role":"assistant","loss":true,"ids":[1]}],"provenance":{"task":3,"train_prefix":true,)"
      R"("nodes":{"bad":4}}})");
  EXPECT_EQ(row.format, DataFormat::kSegments);
  EXPECT_THAT(row.messages, ElementsAre(Message{"user", "u"}, Message{"assistant", ""}));
  EXPECT_THAT(row.trained, ElementsAre(false, true));
  EXPECT_EQ(row.bad_path, BadPath::kNamed);
  EXPECT_EQ(row.train_prefix, true);
  EXPECT_EQ(row.task, "3");
  EXPECT_EQ((*row.provenance)["nodes"]["bad"], 4);
}

TEST(ReadRowFile, TakesTheProvenanceFromTheFileBeside) {
  const ScratchFolder folder;
  const std::string line = R"({"task_num":1,"revise_log":[{"role":"user","content":"u"}]})";
  std::vector<Row> rows = ReadRowFile(folder.Write("a.jsonl", line + "\n\n" + line + "\n"));
  ASSERT_EQ(rows.size(), 2U);
  ReadProvenanceBeside(folder.Write("a.provenance.jsonl", "{\"recovery\":2}\n"), rows);
  EXPECT_EQ((*rows[0].provenance)["recovery"], 2);
  EXPECT_EQ(rows[1].provenance, nullptr);
}

TEST(ReadRowFile, RefusesRowsWithoutTexts) {
  const ScratchFolder folder;
  try {
    ReadRowFile(folder.Write("a.jsonl", R"({"ids":[1,2],"loss":[0,1]})"));
    FAIL() << "must be refused";
  } catch (const FatalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("row 1: a row of token ids"));
  }
}

}  // namespace
}  // namespace agentr
