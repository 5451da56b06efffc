#include "revision/judgement_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "rows/provenance.h"
#include "rows/row_reader.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const JudgementPrompt kPrompt("[user]\nBefore: {log}\nDone: {action}\nSeen: {observation}\n");

class JudgementRowsTest : public ::testing::Test {
 protected:
  Json RowOf(const StepLabel& label, int64_t max_tokens = 0) const {
    const std::string line = JudgementLine(tree_, label, kPrompt, max_tokens, "t.json", 3);
    EXPECT_THAT(line, EndsWith("}\n"));
    return Json::parse(line);
  }

  const Tree tree_ = HandTree({{"p q g", 1}, {"p a b", 0}});
};

TEST_F(JudgementRowsTest, TheQuestionOfTheVerifierAndWhatTheSearchProves) {
  const Json bad = RowOf({At(tree_, "p a"), false, "wrong_turn", 4});
  ASSERT_EQ(bad["messages"].size(), 2U);
  EXPECT_EQ(bad["messages"][0]["content"],
            "Before: Action: p\nObservation: saw p\nDone: a\nSeen: saw p a");
  EXPECT_FALSE(bad["messages"][0].contains("weight"));
  EXPECT_EQ(bad["messages"][1]["content"], "The step is a mistake: wrong turn.\nJudgement: Bad");
  EXPECT_EQ(bad["messages"][1]["weight"], 1);
  EXPECT_EQ(bad["provenance"]["mistake"], "wrong_turn");
  EXPECT_EQ(bad["provenance"]["evidence"], 4);
  EXPECT_EQ(bad["provenance"]["task"], 3);
  const Json good = RowOf({At(tree_, "p q"), true, "", 0});
  EXPECT_TRUE(good["provenance"]["mistake"].is_null());
}

TEST_F(JudgementRowsTest, TheVerifierReadsTheAnswers) {
  for (const bool is_good : {true, false}) {
    const Json row = RowOf({At(tree_, "p q"), is_good, "x", 0});
    const StepJudgement judged = ParseJudgement(row["messages"][1]["content"].get<std::string>());
    EXPECT_TRUE(judged.parsed);
    EXPECT_EQ(judged.judgement, is_good ? Judgement::kGood : Judgement::kBad);
  }
}

TEST_F(JudgementRowsTest, TheTrainerReadsTheRowAndTrainsTheAnswer) {
  const StepLabel label{At(tree_, "p q"), true, "", 0};
  const Row row = ReadRow(JudgementLine(tree_, label, kPrompt, 0, "t.json", 3));
  EXPECT_THAT(row.trained, ElementsAre(false, true));
  EXPECT_EQ(row.task, "3");
  EXPECT_NO_THROW(RefuseOldRow(*row.provenance));
}

TEST_F(JudgementRowsTest, TheOldestTurnsGoWhereTheRowIsTooLong) {
  const StepLabel label{At(tree_, "p q g"), true, "", 0};
  const Json whole = RowOf(label);
  EXPECT_THAT(whole["messages"][0]["content"].get<std::string>(), HasSubstr("Action: p\n"));
  const std::vector<Message> read = {{"user", whole["messages"][0]["content"]},
                                     {"assistant", whole["messages"][1]["content"]}};
  const Json cut = RowOf(label, EstimateTokens(read) - 1);
  EXPECT_EQ(cut["provenance"]["dropped_turns"], 1);
  EXPECT_THAT(cut["messages"][0]["content"].get<std::string>(),
              AllOf(Not(HasSubstr("Action: p\n")), HasSubstr("Action: q\n")));
  EXPECT_EQ(RowOf(label, 1)["provenance"]["dropped_turns"], 2) << "the step itself always stays";
}

}  // namespace
}  // namespace agentr
