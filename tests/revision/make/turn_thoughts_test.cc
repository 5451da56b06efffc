#include "revision/make/turn_thoughts.h"

#include <gtest/gtest.h>

#include "tasks/action_text.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/webshop/webshop_family.h"
#include "tests/mcts/toy_environment.h"

namespace agentr {
namespace {

constexpr char kPlanks[] = "oak planks using 1 oak log makes 4: ";

class TurnThoughtsTest : public ::testing::Test {
 protected:
  TurnThoughtsTest() {
    trajectory.first_observation =
        "Crafting commands:\ncraft 4 oak planks using 1 oak log\n\nGoal: craft oak planks.";
  }

  void Add(Part part, const std::string& thought, const std::string& action,
           const std::string& observation) {
    trajectory.turns.push_back({part, 1, "Thought: " + thought + "\nAction: " + action, action,
                                observation, observation.starts_with("Could not")});
  }
  bool Stays(const std::string& mode) {
    return MendThoughts(mode, TextCraftFamily(), trajectory, counts);
  }
  std::string Thought(size_t turn) {
    return std::string(ThoughtOf(trajectory.turns[turn].response));
  }

  Trajectory trajectory;
  RevisionCounts counts;
};

TEST_F(TurnThoughtsTest, AGarbledThoughtIsKeptLeftOutOrRewritten) {
  Add(Part::kGood, "mast oak log using 4 dark oak log makes 1.", "get 1 oak log", "Got 1 oak log");
  EXPECT_TRUE(Stays("keep"));
  EXPECT_EQ(Thought(0), "mast oak log using 4 dark oak log makes 1.");
  EXPECT_FALSE(Stays("agree"));
  EXPECT_EQ(counts.disagreeing_rows, 1);
  EXPECT_TRUE(Stays("rewrite"));
  EXPECT_EQ(trajectory.turns[0].response,
            std::string("Thought: ") + kPlanks + "need 1 oak log.\nAction: get 1 oak log");
  EXPECT_EQ(counts.rewritten_turns, 1);
  EXPECT_TRUE(Stays("agree"));
}

// In the second iteration of a loop a twentieth of the trained turns said "That did not work." of
// what had worked.
TEST_F(TurnThoughtsTest, AFalseNoticeBeforeTheMistakeIsContext) {
  trajectory.train_prefix = true;
  Add(Part::kPrefix, kPlanks + std::string("need 1 oak log."), "get 1 oak log", "Got 1 oak log");
  Add(Part::kPrefix, "That did not work. oak log.", "inventory", "Inventory: [oak log] (1)");
  Add(Part::kBad, "x", "craft 9 oak planks", "Could not execute craft 9 oak planks");
  Add(Part::kGood, kPlanks + std::string("have oak log."), "craft 4 oak planks using 1 oak log",
      "Crafted 4 minecraft:oak_planks");
  const auto trained = [&](size_t turn) { return IsTrained(trajectory, trajectory.turns[turn]); };
  EXPECT_TRUE(Stays("keep"));
  EXPECT_TRUE(trained(1));
  EXPECT_TRUE(Stays("agree"));
  EXPECT_TRUE(trained(0));
  EXPECT_FALSE(trained(1));
  EXPECT_EQ(counts.disagreeing_turns, 1);
  EXPECT_EQ(counts.disagreeing_rows, 0);
  trajectory.turns[1].part = Part::kGood;
  trajectory.turns[1].contradicts = false;
  EXPECT_FALSE(Stays("agree")) << "what follows the mistake is the row";
}

TEST_F(TurnThoughtsTest, ContextAndTheRevisionKeepTheirWords) {
  Add(Part::kBad, "oak log using 2 oak log makes 1.", "craft 4 oak planks using 1 oak log",
      "Could not find enough items to craft minecraft:oak_planks");
  Add(Part::kRevision, "That was a mistake of mine.", "wait", "ok.");
  Add(Part::kGood, "first using 1 x makes 2.", "get 1 oak log", "Got 1 oak log");
  EXPECT_TRUE(Stays("rewrite"));
  EXPECT_EQ(Thought(0), "oak log using 2 oak log makes 1.");
  EXPECT_EQ(Thought(1), "That was a mistake of mine.");
  EXPECT_EQ(Thought(2), std::string(kPlanks) + "need 1 oak log.");
}

TEST_F(TurnThoughtsTest, TheTurnAfterARefusalSaysSo) {
  Add(Part::kGood, "x", "get 1 oak planks", "Could not find oak planks");
  Add(Part::kGood, "y", "get 1 oak log", "Got 1 oak log");
  EXPECT_TRUE(Stays("rewrite"));
  EXPECT_EQ(Thought(1), std::string("That did not work. ") + kPlanks + "need 1 oak log.");
}

// What the goal does not need has no reasons, but words that agree with it may stay.
TEST_F(TurnThoughtsTest, WithoutReasonsTheThoughtMustAgree) {
  Add(Part::kGood, "I take some more.", "get 3 oak log", "Got 3 oak log");
  EXPECT_TRUE(Stays("rewrite"));
  EXPECT_EQ(Thought(0), "I take some more.");
  Add(Part::kGood, "oak log using 1 x makes 3.", "get 4 oak log", "Got 4 oak log");
  EXPECT_FALSE(Stays("rewrite"));
}

TEST_F(TurnThoughtsTest, WhatTheRevisionTurnSaysMayStandInTheNextTurn) {
  const auto insert = [&](const std::string& reply, bool refused, std::string_view where = "next") {
    trajectory.turns.clear();
    Add(Part::kBad, "x", "get 1 oak planks", "Could not find oak planks");
    Add(Part::kRevision, "I got planks instead of a log.", "wait", reply);
    Add(Part::kGood, "y", "get 1 oak log", refused ? "Could not find it" : "Got 1 oak log");
    TakeOutRevisionTurn(where, "ok.", trajectory);
  };
  insert("ok.", false);
  ASSERT_EQ(trajectory.turns.size(), 2U);
  EXPECT_TRUE(Stays("keep"));
  EXPECT_EQ(trajectory.turns[1].response,
            "Thought: I got planks instead of a log. y\nAction: get 1 oak log");
  EXPECT_EQ(Thought(0), "x");

  // The model may have said it by itself.
  insert("ok.", false);
  const std::string said = "Thought: I got planks instead of a log. z\nAction: get 1 oak log";
  trajectory.turns[1].response = said;
  EXPECT_TRUE(Stays("keep"));
  EXPECT_EQ(trajectory.turns[1].response, said);

  insert("ok.", false);
  trajectory.turns[1].response = "<think>\nz\n</think>\n\nThought: y\nAction: get 1 oak log";
  EXPECT_TRUE(Stays("agree"));
  EXPECT_EQ(
      trajectory.turns[1].response,
      "<think>\nz\n</think>\n\nThought: I got planks instead of a log. y\nAction: get 1 oak log");

  insert("ok.", false);
  EXPECT_TRUE(Stays("rewrite"));
  EXPECT_EQ(Thought(1),
            std::string("I got planks instead of a log. ") + kPlanks + "need 1 oak log.")
      << "in place of: That did not work.";
  const std::vector<RowMessage> messages = RowMessages(trajectory);
  EXPECT_TRUE(messages.back().revision);
  EXPECT_TRUE(messages.back().trained);

  insert("ok.", false, "none");
  EXPECT_TRUE(Stays("keep"));
  EXPECT_EQ(trajectory.turns[1].response, "Thought: y\nAction: get 1 oak log");
  EXPECT_TRUE(Stays("rewrite"));
  EXPECT_EQ(Thought(1), std::string(kPlanks) + "need 1 oak log.") << "nor: That did not work.";
  EXPECT_FALSE(RowMessages(trajectory).back().revision);
  EXPECT_TRUE(RowMessages(trajectory).back().trained);

  insert("The door is open now.", false);
  EXPECT_EQ(trajectory.turns.size(), 3U) << "the environment took it for an action";
  insert("ok.", true);
  EXPECT_EQ(trajectory.turns.size(), 3U) << "the next turn is not trained";
}

// "ok." is no page of the shop: what was seen before still holds, and the revision has said already
// what was done.
TEST_F(TurnThoughtsTest, BehindARevisionTheEnvironmentsLastAnswerCounts) {
  const std::string item =
      "Instruction: [SEP] buy a lamp with color: red, and price lower than 20.00 dollars [SEP] "
      "Back to Search [SEP] < Prev [SEP] color [SEP] red [SEP] blue [SEP] A Lamp [SEP] "
      "Price: $12.5 [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] "
      "Buy Now";
  trajectory.first_observation = item;
  Add(Part::kBad, "x", "click[blue]", item);
  Add(Part::kRevision, "I clicked blue instead of red.", "wait", "ok.");
  Add(Part::kGood, "y", "click[red]", item);
  EXPECT_TRUE(MendThoughts("rewrite", WebShopFamily(), trajectory, counts));
  EXPECT_EQ(Thought(2), "color: red, as asked.");
}

TEST_F(TurnThoughtsTest, AFamilyWithoutWordsOfItsOwnKeepsThem) {
  Add(Part::kGood, "x makes 3", "go", "gone");
  EXPECT_TRUE(MendThoughts("rewrite", ToyFamily(), trajectory, counts));
  EXPECT_EQ(Thought(0), "x makes 3");
}

// Of turns 1 and 2, which the model did not write.
TEST_F(TurnThoughtsTest, InsertedTurnsThinkIfTheModelDoes) {
  const Thoughts thinking = Thoughts::Parse("It says {reply}.\n[recover]\nBack by {action}.");
  const auto insert = [&] {
    trajectory.turns.clear();
    Add(Part::kBad, "x", "get 1 oak log", "Could not find");
    Add(Part::kRevision, "A mistake.", "wait", "ok.");
    Add(Part::kRecovery, "Again.", "inventory", "Inventory: []");
    Add(Part::kGood, "y", "get 1 oak log", "Got 1 oak log");
    trajectory.turns[1].node = trajectory.turns[2].node = -1;
  };
  insert();
  const std::vector<SplicedTurn> plain = trajectory.turns;
  ThinkBeforeInserted(thinking, "refused", RandomStream(1), trajectory);
  EXPECT_EQ(trajectory.turns, plain) << "the model's turns have no thoughts";

  trajectory.turns[3].response = "<think>\nAction: a\n</think>\n\n" + trajectory.turns[3].response;
  ThinkBeforeInserted(thinking, "refused", RandomStream(1), trajectory);
  EXPECT_EQ(trajectory.turns[1].response,
            "<think>\nIt says Could not find.\n</think>\n\nThought: A mistake.\nAction: wait");
  EXPECT_EQ(trajectory.turns[2].response,
            "<think>\nBack by inventory.\n</think>\n\nThought: Again.\nAction: inventory");
  EXPECT_EQ(trajectory.turns[0].response, plain[0].response);

  insert();
  trajectory.turns[0].response = "[THINK]b[/THINK]" + trajectory.turns[0].response;
  ThinkBeforeInserted(thinking, "refused", RandomStream(1), trajectory);
  EXPECT_EQ(trajectory.turns[2].response,
            "[THINK]\nBack by inventory.\n[/THINK]\n\nThought: Again.\nAction: inventory");

  insert();
  trajectory.turns[0].reasoning = "apart";
  ThinkBeforeInserted(thinking, "refused", RandomStream(1), trajectory);
  EXPECT_EQ(trajectory.turns[1].response, plain[1].response);
  EXPECT_EQ(trajectory.turns[1].reasoning, "It says Could not find.");
  EXPECT_EQ(trajectory.turns[2].reasoning, "Back by inventory.");
}

TEST_F(TurnThoughtsTest, OurOwnThoughtsAreThere) {
  EXPECT_FALSE(Thoughts::BuiltInThinking().Of("any").empty());
  EXPECT_FALSE(Thoughts::BuiltInThinking().Of("recover").empty());
}

}  // namespace
}  // namespace agentr
