// What must not be trained: the mistaken action in the state in which it was a mistake.
#include "revision/make/decision_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "mcts/tree_file.h"
#include "revision/task_reviser.h"
#include "tasks/task_kinds.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr const char* kPlanks = "craft 4 oak planks using 1 oak log";
constexpr const char* kBoat = "craft 1 oak boat using 5 oak planks";

int AddStep(Tree& tree, int parent, const std::string& action, const std::string& observation) {
  Node node;
  node.action = action;
  node.response = "Thought: I go on.\nAction: " + action;
  node.observation = observation;
  node.end = observation == "Crafted 1 minecraft:oak_boat" ? End::kDone : End::kNone;
  node.reward = node.end == End::kDone ? 1 : 0;
  return tree.Add(parent, std::move(node));
}

class DecisionCollectorTest : public ::testing::Test {
 protected:
  DecisionCollectorTest()
      : tree_({"textcraft", 3, "hand", "", "{}"}, {{"user", "Play."}, {"assistant", "Ok."}},
              std::string("Crafting commands:\n") + kPlanks + "\n" + kBoat +
                  "\n\nGoal: craft oak boat.") {
    const int log = AddStep(tree_, 0, "get 2 oak log", "Got 2 oak log");
    four_planks_ = AddStep(tree_, log, kPlanks, "Crafted 4 minecraft:oak_planks");
    AddStep(tree_, four_planks_, kBoat, "Could not find enough items to craft minecraft:oak_boat");
  }

  // The rows of the tree, without a replay.
  TaskRows Rows() {
    const ScratchFolder folder;
    const auto family = MakeTaskFamily("textcraft");
    std::atomic<bool> stop = false;
    ReviseOptions options;
    options.turn_thoughts = "keep";
    options.max_form_share = form_share_;
    TaskReviser::Context context{.family = *family, .stop = stop};
    context.records = folder / "records";
    const std::string text = WriteTree(tree_, TreeFormat::kCompact);
    const auto rows =
        TaskReviser(options, std::move(context)).Run({3, folder.Write("tree.json", text)});
    EXPECT_TRUE(rows) << rows.error().error.message;
    return rows ? *rows : TaskRows();
  }

  Tree tree_;
  int four_planks_ = -1;
  double form_share_ = 1;
};

// The answer to the second planks is the same as to the first, but four more of them are held.
TEST_F(DecisionCollectorTest, WhatWasTooEarlyIsRightOnceItsConditionIsMet) {
  const int eight = AddStep(tree_, four_planks_, kPlanks, "Crafted 4 minecraft:oak_planks");
  tree_.BackUp(AddStep(tree_, eight, kBoat, "Crafted 1 minecraft:oak_boat"));
  const TaskRows made = Rows();
  EXPECT_EQ(made.counts.contradictions, 0);
  ASSERT_THAT(made.rows, SizeIs(1));
  EXPECT_THAT(ActionsOf(made.rows[0].trajectory),
              ElementsAre("get 2 oak log", kPlanks, kBoat, "wait", kPlanks, kBoat));
}

TEST_F(DecisionCollectorTest, TheMistakeIsNeverTrainedInItsOwnState) {
  // As a game would answer that changes its mind.
  const int seen = AddStep(tree_, four_planks_, "inventory", "Inventory: [oak planks] (4)");
  tree_.BackUp(AddStep(tree_, seen, kBoat, "Crafted 1 minecraft:oak_boat"));
  const TaskRows made = Rows();
  EXPECT_EQ(made.counts.contradictions, 1);
  EXPECT_THAT(made.rows, SizeIs(0));
}

TEST_F(DecisionCollectorTest, OfTheRowsAtMostAShareCorrectsTheFormOfAnAction) {
  const int eight = AddStep(tree_, four_planks_, kPlanks, "Crafted 4 minecraft:oak_planks");
  tree_.BackUp(AddStep(tree_, eight, kBoat, "Crafted 1 minecraft:oak_boat"));
  for (const char* form : {"fly", "jump", "swim"}) {
    AddStep(tree_, four_planks_, form, std::string("Could not execute ") + form);
  }
  const auto mistakes = [&](double share) {
    form_share_ = share;
    return Rows().counts.mistakes;
  };
  using Counts = std::map<std::string, int64_t>;
  EXPECT_EQ(mistakes(1), (Counts{{"malformed", 3}, {"missing_item", 1}}));
  EXPECT_EQ(mistakes(2.0 / 3), (Counts{{"malformed", 2}, {"missing_item", 1}}));
  EXPECT_EQ(mistakes(0.5), (Counts{{"malformed", 1}, {"missing_item", 1}})) << "exactly the half";
  EXPECT_EQ(mistakes(0), (Counts{{"missing_item", 1}}));
}

}  // namespace
}  // namespace agentr
