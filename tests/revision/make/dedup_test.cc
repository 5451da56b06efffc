#include "revision/make/dedup.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace agentr {
namespace {

using Verdict = Deduplicator::Verdict;

Trajectory TwoTurns() {
  Trajectory trajectory;
  trajectory.instruction = {{"user", "Play."}};
  trajectory.first_observation = "Goal.";
  trajectory.turns = {{Part::kBad, 1, "Thought: x\nAction: get a", "get a", "Got a"},
                      {Part::kGood, 2, "Thought: y\nAction: get b", "get b", "Got b"}};
  return trajectory;
}

TEST(ContentHashTest, EveryThingShownOrTrainedCounts) {
  const std::string hash = ContentHash(TwoTurns());
  EXPECT_EQ(hash.size(), 64U);
  Trajectory other = TwoTurns();
  other.turns[0].response += " ";
  EXPECT_NE(ContentHash(other), hash);
  other = TwoTurns();
  other.turns[0].observation = "Got b";
  EXPECT_NE(ContentHash(other), hash);
  other = TwoTurns();
  other.turns[0].part = Part::kGood;  // trained on
  EXPECT_NE(ContentHash(other), hash);
  other = TwoTurns();
  other.turns[1].observation = "Not shown";
  EXPECT_EQ(ContentHash(other), hash);
  other = TwoTurns();
  other.turns[0].node = 5;
  EXPECT_EQ(ContentHash(other), hash);
}

TEST(ActionsHashTest, WordsAroundTheActionsDoNotCount) {
  const std::string hash = ActionsHash(TwoTurns());
  Trajectory other = TwoTurns();
  other.turns[0].response = "Thought: y\nAction: get a";
  other.turns[0].observation = "Got an a";
  other.turns[0].action = " Get  A ";
  EXPECT_EQ(ActionsHash(other), hash);
  other.turns[0].action = "get b";
  EXPECT_NE(ActionsHash(other), hash);
  other = TwoTurns();
  other.turns[0].part = Part::kGood;
  EXPECT_NE(ActionsHash(other), hash);
  other = TwoTurns();
  other.first_observation = "Another goal.";
  EXPECT_NE(ActionsHash(other), hash);
}

TEST(DeduplicatorTest, NearDropsBothKinds) {
  Deduplicator dedup(Dedup::kNear);
  EXPECT_EQ(dedup.Check("c1", "a1"), Verdict::kNew);
  EXPECT_EQ(dedup.Check("c1", "a1"), Verdict::kExact);
  EXPECT_EQ(dedup.Check("c2", "a1"), Verdict::kNear);
  EXPECT_EQ(dedup.Check("c3", "a2"), Verdict::kNew);
}

TEST(DeduplicatorTest, ExactKeepsOtherWordings) {
  Deduplicator dedup(Dedup::kExact);
  EXPECT_EQ(dedup.Check("c1", "a1"), Verdict::kNew);
  EXPECT_EQ(dedup.Check("c2", "a1"), Verdict::kNew);
  EXPECT_EQ(dedup.Check("c2", "a1"), Verdict::kExact);
}

TEST(DeduplicatorTest, OffKeepsAll) {
  Deduplicator dedup(Dedup::kOff);
  EXPECT_EQ(dedup.Check("c1", "a1"), Verdict::kNew);
  EXPECT_EQ(dedup.Check("c1", "a1"), Verdict::kNew);
}

}  // namespace
}  // namespace agentr
