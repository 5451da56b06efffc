#include "revision/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "tests/mcts/toy_environment.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using Lines = std::vector<AuditRow::Line>;

AuditRow::Line Said(const std::string& action, bool trained = true) {
  return {"assistant", "Thought: x\nAction: " + action, trained};
}
AuditRow::Line Saw(const std::string& text) { return {"user", text}; }

const std::string kNothing = "Nothing changes";

class AuditTest : public ::testing::Test {
 protected:
  // Of one row that begins with an instruction, its "Ok." and the page "A".
  nlohmann::json Of(const Lines& lines, bool ok_trained = false) {
    AuditRow row;
    row.messages = {Saw("Play."), {"assistant", "Ok.", ok_trained}, Saw("A")};
    row.messages.insert(row.messages.end(), lines.begin(), lines.end());
    Audit audit(family_);
    audit.Add(row);
    return audit.Json();
  }

  const ToyFamily family_;
};

TEST_F(AuditTest, ACleanRowHasNothingAgainstIt) {
  const auto json = Of({Said("p", false), Saw("B"), Said("stuck", false), Saw(kNothing),
                        Said("wait"), Saw("ok."), Said("g"), Saw("C"), Said("h")});
  EXPECT_EQ(json["trained"], (nlohmann::json{{"turns", 3},
                                             {"instruction", 0},
                                             {"before_the_mistake", 0},
                                             {"refused", 0},
                                             {"without_effect", 0},
                                             {"repeated", 0}}));
  EXPECT_EQ(json["turns"], 6);
  EXPECT_EQ(json["rows_with_a_revision"], 1);
  EXPECT_EQ(json["contradictions"]["good_action_is_the_bad_one"], 0);
}

TEST_F(AuditTest, TrainedTurnsThatDidNothingAreCounted) {
  const auto json = Of({Said("stuck"), Saw(kNothing), Said("look"), Saw(kNothing), Said("stuck"),
                        Saw(kNothing), Said("g")},
                       true);
  EXPECT_EQ(json["trained"]["turns"], 5);
  EXPECT_EQ(json["trained"]["instruction"], 1);
  EXPECT_EQ(json["trained"]["refused"], 2);
  EXPECT_EQ(json["trained"]["without_effect"], 1);
  EXPECT_EQ(json["trained"]["repeated"], 1);
  EXPECT_EQ(json["rows_that_train_a_refused_turn"], 1);
}

TEST_F(AuditTest, TrainedPrefixesAreCounted) {
  const auto json = Of({Said("p"), Saw("B"), Said("q"), Saw("C"), Said("bad", false), Saw("D"),
                        Said("wait"), Saw("ok."), Said("g")});
  EXPECT_EQ(json["trained"]["before_the_mistake"], 2);
}

TEST_F(AuditTest, ContradictionsAreCounted) {
  const auto same =
      Of({Said("stuck", false), Saw(kNothing), Said("wait"), Saw("ok."), Said("stuck"), Saw("B")});
  EXPECT_EQ(same["contradictions"]["good_action_is_the_bad_one"], 1);
  EXPECT_EQ(same["contradictions"]["masked_action_trained_on_the_same_page"], 1);
  const auto later = Of({Said("b", false), Saw("B"), Said("wait"), Saw("ok."), Said("back"),
                         Saw("A"), Said("b"), Saw("B")});
  EXPECT_EQ(later["contradictions"]["good_action_is_the_bad_one"], 0);
  EXPECT_EQ(later["contradictions"]["masked_action_trained_on_the_same_page"], 1);
}

class AuditFileTest : public ::testing::Test {
 protected:
  std::vector<AuditRow> Read(const std::string& text, bool refuse_old = false) {
    const auto path = folder_.path() / "webshop_rows.json";
    WriteFileAtomically(path, text);
    return ReadAuditRows(path, refuse_old);
  }
  const TemporaryFolder folder_;
};

TEST_F(AuditFileTest, AgentRsOwnRowsMarkLossOnSomeTurns) {
  const auto rows =
      Read(R"({"task_num": 7, "revise_log": [{"role": "user", "content": "u"},)"
           R"({"role": "assistant", "content": "OK"}, {"role": "user", "content": "o"},)"
           R"({"role": "assistant", "content": "b", "loss": false},)"
           R"({"role": "assistant", "content": "g", "loss": true}]})");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].task, "7");
  EXPECT_TRUE(rows[0].messages[1].trained) << "without a flag it is trained";
  EXPECT_FALSE(rows[0].messages[3].trained);
  EXPECT_TRUE(rows[0].messages[4].trained);
}

TEST_F(AuditFileTest, AgentTrajsConversationsComeAsOneArray) {
  const auto rows = Read(
      R"([{"item_id": "webshop_3", "conversations": [{"from": "human", "loss": null, "value": "u"},)"
      R"({"from": "gpt", "loss": false, "value": "OK"}, {"from": "gpt", "loss": true,)"
      R"("value": "g"}]}])");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].messages[1].role, "assistant");
  EXPECT_FALSE(rows[0].messages[1].trained);
  EXPECT_TRUE(rows[0].messages[2].trained);
  EXPECT_EQ(FamilyOfRows("rows.json", rows), "webshop");
  EXPECT_EQ(FamilyOfRows("textcraft_good.jsonl", rows), "textcraft");
}

TEST_F(AuditFileTest, RowsOfTheOldKindAreRefusedWhereAsked) {
  const std::string old = R"({"messages": [], "provenance": {"task": 3}})";
  EXPECT_EQ(Read(old).size(), 1U);
  try {
    Read(old, true);
    FAIL() << "must be refused";
  } catch (const FatalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("make the rows again with path_collect"));
  }
  EXPECT_EQ(Read(R"({"messages": [], "provenance": {"task": 3, "version": 2}})", true).size(), 1U);
}

TEST_F(AuditFileTest, WhatIsNoRowIsNamedByItsPlace) {
  for (const char* text : {"{\"messages\": []}\n{\"other\": 1}", "{\"messages\": []}\n{broken"}) {
    try {
      Read(text);
      FAIL() << "must be refused";
    } catch (const FatalError& error) {
      EXPECT_THAT(error.what(), HasSubstr("row 2"));
    }
  }
}

}  // namespace
}  // namespace agentr
