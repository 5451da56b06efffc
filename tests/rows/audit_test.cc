#include "rows/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "rows/row_reader.h"
#include "tasks/task_kinds.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/mcts/toy_environment.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

struct Line {
  std::string role;
  std::string content;
  bool trained = false;
};
using Talk = std::vector<Line>;

Row RowOf(const Talk& lines) {
  Row row;
  for (const Line& line : lines) {
    row.messages.push_back({line.role, line.content});
    row.trained.push_back(line.trained);
  }
  return row;
}

Line Said(const std::string& action, bool trained = true) {
  return {"assistant", "Thought: x\nAction: " + action, trained};
}
Line Saw(const std::string& text) { return {"user", text}; }

const std::string kNothing = "Nothing changes";

class AuditTest : public ::testing::Test {
 protected:
  // Of one row that begins with an instruction, its "Ok." and the page "A".
  nlohmann::json Of(const Talk& lines, bool ok_trained = false) {
    Talk all = {Saw("Play."), {"assistant", "Ok.", ok_trained}, Saw("A")};
    all.insert(all.end(), lines.begin(), lines.end());
    Audit audit(family_);
    audit.Add(RowOf(all));
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
                                             {"repeated", 0},
                                             {"contradicted_by_the_thought", 0}}));
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

TEST(AuditOfThoughtsTest, TrainedThoughtsThatContradictTheirActionAreCounted) {
  const auto family = MakeTaskFamily("textcraft");
  const Talk row = {
      {{"user", "You are given a few recipes."},
       {"assistant", "OK."},
       {"user", "Crafting commands:\ncraft 4 stick using 2 planks\n\nGoal: craft stick."},
       {"assistant", "Thought: planks using 2 log makes 4: need 2 log.\nAction: x", false},
       {"user", "Could not execute x"},
       {"assistant", "Thought: planks using 2 log makes 4: need 2 log.\nAction: get 2 planks",
        true},
       {"user", "Got 2 planks"},
       {"assistant",
        "Thought: stick using 2 planks makes 4: have planks.\n"
        "Action: craft 4 stick using 2 planks",
        true}}};
  Audit audit(*family);
  audit.Add(RowOf(row));
  EXPECT_EQ(audit.Json()["trained"]["contradicted_by_the_thought"], 1);
}

// In TextCraft each crafting of planks has the same answer, but what is held differs.
TEST(AuditOfStatesTest, ThePageAloneIsNotTheState) {
  const auto family = MakeTaskFamily("textcraft");
  const std::string planks = "craft 4 oak planks using 1 oak log";
  const std::string boat = "craft 1 oak boat using 5 oak planks";
  const std::string crafted = "Crafted 4 minecraft:oak_planks";
  const Talk row = {
      Saw("Play."),
      {"assistant", "Ok.", false},
      Saw("Crafting commands:\n" + planks + "\n" + boat + "\n\nGoal: craft oak boat."),
      Said("get 2 oak log", false),
      Saw("Got 2 oak log"),
      Said(planks, false),
      Saw(crafted),
      Said(boat, false),
      Saw("Could not find enough items to craft minecraft:oak_boat"),
      Said("wait"),
      Saw("ok."),
      Said(planks),
      Saw(crafted),
      Said(boat)};
  Audit audit(*family);
  audit.Add(RowOf(row));
  const nlohmann::json json = audit.Json();
  EXPECT_EQ(json["contradictions"]["masked_action_trained_in_the_same_state"], 0);
  EXPECT_EQ(json["trained"]["repeated"], 0);
  EXPECT_EQ(json["rows_with_a_revision"], 1);
}

TEST_F(AuditTest, ContradictionsAreCounted) {
  const auto same =
      Of({Said("stuck", false), Saw(kNothing), Said("wait"), Saw("ok."), Said("stuck"), Saw("B")});
  EXPECT_EQ(same["contradictions"]["good_action_is_the_bad_one"], 1);
  EXPECT_EQ(same["contradictions"]["masked_action_trained_in_the_same_state"], 1);
  const auto later = Of({Said("b", false), Saw("B"), Said("wait"), Saw("ok."), Said("back"),
                         Saw("A"), Said("b"), Saw("B")});
  EXPECT_EQ(later["contradictions"]["good_action_is_the_bad_one"], 0);
  EXPECT_EQ(later["contradictions"]["masked_action_trained_in_the_same_state"], 1);
}

// Only the turn before the revision is the mistake, and only the revision may change nothing.
TEST_F(AuditTest, ASlipThatTheGoodPathKeepsIsNotTheMistake) {
  const auto json = Of({Said("b", false), Saw("B"), Said("wait"), Saw("ok."), Said("p"), Saw("C"),
                        Said("stuck", false), Saw(kNothing), Said("look"), Saw(kNothing),
                        Said("stuck"), Saw("D")});
  EXPECT_EQ(json["rows_with_a_revision"], 1);
  EXPECT_EQ(json["contradictions"]["good_action_is_the_bad_one"], 0);
  EXPECT_EQ(json["contradictions"]["masked_action_trained_in_the_same_state"], 0);
  EXPECT_EQ(json["trained"]["without_effect"], 1);
}

class AuditFileTest : public ::testing::Test {
 protected:
  std::vector<Row> Read(const std::string& text) {
    const auto path = folder_.path() / "webshop_rows.json";
    WriteFileAtomically(path, text);
    return ReadRowFile(path);
  }
  const ScratchFolder folder_;
};

TEST_F(AuditFileTest, AgentRsOwnRowsMarkLossOnSomeTurns) {
  const auto rows =
      Read(R"({"task_num": 7, "revise_log": [{"role": "user", "content": "u"},)"
           R"({"role": "assistant", "content": "OK"}, {"role": "user", "content": "o"},)"
           R"({"role": "assistant", "content": "b", "loss": false},)"
           R"({"role": "assistant", "content": "g", "loss": true}]})");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].task, "7");
  EXPECT_FALSE(rows[0].trained[1]) << "the policy did not say it";
  EXPECT_FALSE(rows[0].trained[3]);
  EXPECT_TRUE(rows[0].trained[4]);
}

TEST_F(AuditFileTest, AgentTrajsConversationsComeAsOneArray) {
  const auto rows = Read(
      R"([{"item_id": "webshop_3", "conversations": [{"from": "human", "loss": null, "value": "u"},)"
      R"({"from": "gpt", "loss": false, "value": "OK"}, {"from": "gpt", "loss": true,)"
      R"("value": "g"}]}])");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].messages[1].role, "assistant");
  EXPECT_FALSE(rows[0].trained[1]);
  EXPECT_TRUE(rows[0].trained[2]);
  EXPECT_EQ(FamilyOfRows("rows.json", rows), "webshop");
  EXPECT_EQ(FamilyOfRows("textcraft_good.jsonl", rows), "textcraft");
}

// In the very form of AgentTraj-L, counted by hand.
TEST_F(AuditFileTest, ConversationsOfAgentTrajAreCountedRight) {
  const auto rows = Read(R"json([
{"conversations": [
  {"from": "human", "loss": null, "value": "You are given few useful crafting recipes."},
  {"from": "gpt", "loss": false, "value": "OK. I'll follow your instructions."},
  {"from": "human", "loss": null,
   "value": "Crafting commands:\ncraft 4 oak planks using 1 oak logs\n\nGoal: craft oak planks."},
  {"from": "gpt", "loss": true, "value": "Thought:\nI need logs.\n\nAction:\nget 1 oak logs"},
  {"from": "human", "loss": null, "value": "Got 1 oak logs"},
  {"from": "gpt", "loss": true, "value": "Thought:\nDirt?\n\nAction:\nget 1 dirt"},
  {"from": "human", "loss": null, "value": "Could not find dirt"},
  {"from": "gpt", "loss": true, "value": "Thought:\nDirt!\n\nAction:\nget 1 dirt"},
  {"from": "human", "loss": null, "value": "Could not find dirt"},
  {"from": "gpt", "loss": true, "value": "Thought:\nWhat is there?\n\nAction:\ninventory"},
  {"from": "human", "loss": null, "value": "Inventory: [oak logs] (1)"},
  {"from": "gpt", "loss": true,
   "value": "Thought:\nNow.\n\nAction:\ncraft 4 oak planks using 1 oak logs"}],
 "item_id": "textcraft_5"
},
{"conversations": [
  {"from": "human", "loss": null, "value": "You are given few useful crafting recipes."},
  {"from": "gpt", "loss": false, "value": "OK. I'll follow your instructions."},
  {"from": "human", "loss": null,
   "value": "Crafting commands:\ncraft 4 oak planks using 1 oak logs\n\nGoal: craft oak planks."},
  {"from": "gpt", "loss": true, "value": "Thought:\nI need logs.\n\nAction:\nget 1 oak logs"},
  {"from": "human", "loss": null, "value": "Got 1 oak logs"}],
 "item_id": "textcraft_6"}])json");
  EXPECT_EQ(FamilyOfRows("rows.json", rows), "textcraft");
  const auto family = MakeTaskFamily("textcraft");
  Audit audit(*family);
  for (const Row& row : rows) audit.Add(row);
  const auto json = audit.Json();
  EXPECT_EQ(json["rows"], 2);
  EXPECT_EQ(json["tasks"], 2);
  EXPECT_EQ(json["turns"], 6 + 2);
  EXPECT_EQ(json["trained"]["turns"], 5 + 1);
  EXPECT_EQ(json["trained"]["instruction"], 0);
  EXPECT_EQ(json["trained"]["before_the_mistake"], 0);
  EXPECT_EQ(json["trained"]["refused"], 2) << "dirt, twice";
  EXPECT_EQ(json["trained"]["without_effect"], 1) << "the inventory";
  EXPECT_EQ(json["trained"]["repeated"], 1) << "the second dirt";
  EXPECT_EQ(json["rows_that_train_a_refused_turn"], 1);
  EXPECT_EQ(json["rows_with_a_revision"], 0);
  EXPECT_EQ(json["unique_suffixes"], 2);
}

// In the very form of Agent-R's released rows, counted by hand.
TEST_F(AuditFileTest, RowsOfAgentRAreCountedRight) {
  const auto rows = Read(
      R"({"task_num": 5, "revise_log": [{"role": "user", "content": "You are given recipes."}, )"
      R"({"role": "assistant", "content": "OK"}, )"
      R"({"role": "user", "content": "Crafting commands:\ncraft 4 oak planks using 1 oak logs\n\n)"
      R"(Goal: craft oak planks."}, )"
      R"({"role": "assistant", "content": "Action: craft 4 oak planks", "loss": false}, )"
      R"({"role": "user", "content": "Could not find enough items to craft oak planks"}, )"
      R"({"role": "assistant", "content": "Thought: That was wrong.\nAction: wait", "loss": true}, )"
      R"({"role": "user", "content": "ok."}, )"
      R"({"role": "assistant", "content": "Action: get 1 oak logs", "loss": true}, )"
      R"({"role": "user", "content": "Got 1 oak logs"}, )"
      R"({"role": "assistant", "content": "Action: craft 4 oak planks", "loss": true}, )"
      R"({"role": "user", "content": "Crafted 4 minecraft:oak_planks"}], )"
      R"("high_log": [], "low_log": [], "task_description": "", "revise": true, )"
      R"("revise_feedback": []})"
      "\n");
  const auto family = MakeTaskFamily("textcraft");
  Audit audit(*family);
  for (const Row& row : rows) audit.Add(row);
  const auto json = audit.Json();
  EXPECT_EQ(json["rows"], 1);
  EXPECT_EQ(json["turns"], 5);
  EXPECT_EQ(json["trained"]["turns"], 3) << "not the OK, which carries no flag";
  EXPECT_EQ(json["trained"]["instruction"], 0);
  EXPECT_EQ(json["trained"]["refused"], 0);
  EXPECT_EQ(json["rows_with_a_revision"], 1);
  EXPECT_EQ(json["contradictions"]["good_action_is_the_bad_one"], 0);
  EXPECT_EQ(json["contradictions"]["masked_action_trained_in_the_same_state"], 0)
      << "the same action, but with the logs at hand";
}

TEST_F(AuditFileTest, WhatIsNoRowIsNamedByItsPlace) {
  for (const char* text : {"{\"messages\": []}\n{\"other\": 1}", "{\"messages\": []}\n{broken"}) {
    EXPECT_THAT(FileErrorOf([&] { Read(text); }), HasSubstr("row 2"));
  }
}

}  // namespace
}  // namespace agentr
