#include "revision/make/clean_turns.h"

#include <gtest/gtest.h>

#include "tests/mcts/toy_environment.h"

namespace agentr {
namespace {

class CleanTurnsTest : public ::testing::Test {
 protected:
  // Whether the row stays; `after` is its trained response then.
  bool Stays(const std::string& response, const std::string& mode = "cut",
             Part part = Part::kGood) {
    Trajectory trajectory;
    trajectory.turns = {{part, 1, response, "g", "G"}};
    const bool stays = CleanTurns(mode, family_, trajectory, counts);
    after = trajectory.turns[0].response;
    return stays;
  }

  const ToyFamily family_;
  RevisionCounts counts;
  std::string after;
};

TEST_F(CleanTurnsTest, OneThoughtAndOneActionStay) {
  EXPECT_TRUE(Stays("Thought: x\nAction: g"));
  EXPECT_TRUE(Stays("Thought: x\nAction: g\n"));
  EXPECT_TRUE(Stays("g"));
  EXPECT_EQ(counts.cut_turns + counts.unclean_rows, 0);
}

TEST_F(CleanTurnsTest, AnInventedObservationIsCutOrDropped) {
  const std::string invented = "Thought: x\nAction: g\nObservation: You have won.";
  EXPECT_TRUE(Stays(invented));
  EXPECT_EQ(after, "Thought: x\nAction: g");
  EXPECT_EQ(counts.cut_turns, 1);
  EXPECT_FALSE(Stays(invented, "drop"));
  EXPECT_EQ(counts.unclean_rows, 1);
  EXPECT_TRUE(Stays(invented, "keep"));
  EXPECT_EQ(after, invented);
}

TEST_F(CleanTurnsTest, AnActionInAThoughtIsNone) {
  EXPECT_TRUE(Stays("<think>\nAction: a\nor Action: b?\n</think>\n\nAction: g", "drop"));
  EXPECT_TRUE(Stays("<think>Action: a</think>\nThought: x\nAction: g\nObservation: no"));
  EXPECT_EQ(after, "<think>Action: a</think>\nThought: x\nAction: g");
  EXPECT_FALSE(Stays("<think>Action: g</think>", "cut"));
  EXPECT_FALSE(Stays("<think>x</think>\nAction: a\nAction: g"));
}

TEST_F(CleanTurnsTest, AnActionInAFenceOrACallOfAToolStaysWhole) {
  for (const std::string whole : {"Thought: x\nAction:\n```\ng\n```", "Action: ```g```",
                                  "Action:\n<tool_call>\n{\"action\": \"g\"}\n</tool_call>",
                                  "Action: <action>\ng\n</action>"}) {
    EXPECT_TRUE(Stays(whole, "drop")) << whole;
    EXPECT_TRUE(Stays(whole + "\nObservation: no"));
    EXPECT_EQ(after, whole);
  }
}

TEST_F(CleanTurnsTest, MarkersOfOtherFormsAreMarkersToo) {
  EXPECT_TRUE(Stays("thought: x\naction: g\nOBSERVATION: no"));
  EXPECT_EQ(after, "thought: x\naction: g");
  EXPECT_TRUE(Stays("Action：g\nObservation：no"));
  EXPECT_EQ(after, "Action：g");
  EXPECT_FALSE(Stays("Action: a\naction: g"));
  EXPECT_FALSE(Stays("[THINK]x[/THINK]Action: a\n**Action**: g"));
}

TEST_F(CleanTurnsTest, SeveralActionsOrNoneLeaveTheRowOut) {
  EXPECT_FALSE(Stays("Action: a\nAction: g"));
  EXPECT_FALSE(Stays("Thought: x\nAction: "));
  EXPECT_FALSE(Stays(""));
}

TEST_F(CleanTurnsTest, WhatIsNotTrainedMayBeUnclean) {
  EXPECT_TRUE(Stays("Action: a\nAction: g", "drop", Part::kBad));
}

}  // namespace
}  // namespace agentr
