#include "rows/row_reader.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/captured_log.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

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
  return FatalErrorOf(ExitCode::kFile, [&] { ReadRow(line); });
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

TEST(ReadRow, KnowsTheMarksAndRolesOfOtherTrainers) {
  const Row row =
      ReadRow(R"({"messages":[{"role":"System","content":"s"},{"role":"User","content":"u"},)"
              R"({"role":"model","content":"a","loss_mask":0},{"from":"Human","value":"v"},)"
              R"({"from":"chatbot","value":"b","trainable":true},{"role":"tool","content":"t"},)"
              R"({"role":"bot","content":"c"}]})");
  EXPECT_THAT(row.messages,
              ElementsAre(Message{"system", "s"}, Message{"user", "u"}, Message{"assistant", "a"},
                          Message{"user", "v"}, Message{"assistant", "b"}, Message{"tool", "t"},
                          Message{"assistant", "c"}));
  EXPECT_THAT(row.trained, ElementsAre(false, false, false, false, true, false, true));
  EXPECT_THAT(row.unread, IsEmpty());
}

TEST(ReadRow, RefusesOtherWaysToSayWhatIsTrained) {
  const std::string talk = R"("messages":[{"role":"user","content":"u"},{"role":"assistant",)"
                           R"("content":"a")";
  for (const char* said :
       {R"("loss_scale":0.5)", R"("mask":[0,1])", R"("masked":true)", R"("train_on_turn":false)",
        R"("training_detail":[{"begin_offset":0}])", R"("images":["a.png"])",
        R"("loss_mask":[0,1])", R"("weight":0.5)", R"("weight":"1")"}) {
    EXPECT_NE(Refusal("{" + talk + "," + said + "}]}"), "") << said;
  }
  for (const char* said :
       {R"("loss_mask":[0,1])", R"("weights":[0,1])", R"("chat_template_kwargs":{"a":1})",
        R"("documents":[{"text":"t"}])", R"("images":["a.png"])"}) {
    EXPECT_NE(Refusal("{" + talk + "}]," + said + "}"), "") << said;
  }
  EXPECT_THAT(Refusal(R"({"messages":"[{\"role\": \"user\"}]"})"), HasSubstr("are one text"));
  for (const char* role : {"tool_call", "tool_response"}) {
    EXPECT_NE(Refusal(std::string(R"({"messages":[{"role":")") + role + R"(","content":"x"}]})"),
              "");
  }
  EXPECT_EQ(Refusal("{" + talk + R"(}],"loss_mask":null,"images":[],"ground_truth":"x"})"), "");
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

TEST(ReadRow, CountsTheMessagesWithKeysThatItDoesNotRead) {
  const Row row = ReadRow(
      R"({"score":1,"messages":[{"role":"user","content":"u","score":1,"name":""},)"
      R"({"role":"assistant","content":"a","reasoning_content":"r","weight":1,"loss":true,"train":null,"score":0.5},)"
      R"({"from":"gpt","value":"b","training":true,"name":"n","tool_calls":[]}]})");
  EXPECT_THAT(row.unread, ElementsAre(Pair("name", 1), Pair("score", 2)));
  const Row segments = ReadRow(R"({"segments":[{"role":"user","loss":false,"text":"u"},)"
                               R"({"role":"assistant","loss":true,"ids":[1],"logprobs":[-0.5]}]})");
  EXPECT_THAT(segments.unread, IsEmpty());
}

TEST(UnreadWarning, NamesEachKeyWithItsCountAndNotTooMany) {
  EXPECT_EQ(UnreadWarning("rows.jsonl", {}), "");
  EXPECT_EQ(UnreadWarning("rows.jsonl", {{"name", 1}, {"score", 41}}),
            "rows.jsonl: 1 message has \"name\", which is not read; 41 messages have \"score\", "
            "which is not read");
  EXPECT_THAT(
      UnreadWarning("rows.jsonl",
                    {{"a\n", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}, {"g", 1}}),
      AllOf(StartsWith("rows.jsonl: 1 message has \"a\\n\","),
            EndsWith("\"e\", which is not read; 2 other keys are not read either")));
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

TEST(ReadRowFile, WarnsOnceOfKeysThatItDoesNotRead) {
  const ScratchFolder folder;
  const std::string line = R"({"messages":[{"role":"user","content":"u","score":1}]})";
  const auto said = [&](const std::string& text) {
    const fs::path file = folder.Write("a.jsonl", text);
    const CapturedLog log;
    ReadRowFile(file);
    return log.text();
  };
  const std::string warning =
      (folder.path() / "a.jsonl").string() + ": 2 messages have \"score\", which is not read\n";
  EXPECT_EQ(said(line + "\n" + line + "\n"), warning);
  EXPECT_EQ(said("[" + line + "," + line + "]"), warning);
  EXPECT_EQ(said(R"({"messages":[{"role":"user","content":"u"}]})"), "");
}

TEST(ReadRowFile, RefusesRowsWithoutTexts) {
  const ScratchFolder folder;
  const fs::path file = folder.Write("a.jsonl", R"({"ids":[1,2],"loss":[0,1]})");
  EXPECT_THAT(FileErrorOf([&] { ReadRowFile(file); }), HasSubstr("row 1: a row of token ids"));
}

}  // namespace
}  // namespace agentr
