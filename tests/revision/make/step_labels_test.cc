#include "revision/make/step_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mcts/toy_environment.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StepLabelsTest : public ::testing::Test {
 protected:
  // "+action" of each good step and "-action/evidence" of each bad one.
  static std::vector<std::string> Said(const Tree& tree, const std::vector<StepLabel>& labels) {
    std::vector<std::string> said;
    for (const StepLabel& label : labels) {
      const std::string& action = tree.node(label.node).action;
      said.push_back(label.good ? "+" + action
                                : "-" + action + "/" + std::to_string(label.evidence));
    }
    return said;
  }

  std::vector<std::string> Labels(const Tree& tree) {
    return Said(tree, LabelSteps(tree, StateMap(tree, family_), family_, options_));
  }

  const ToyFamily family_;
  const MistakeOptions options_{.choice = {}, .min_evidence = 1, .min_success = 0};
};

TEST_F(StepLabelsTest, StepsOfGoodPathsAreGoodAndMistakesBad) {
  EXPECT_THAT(Labels(HandTree({{"p q g", 1}, {"p a b", 0}})), ElementsAre("+p", "+q", "-a/1"));
}

TEST_F(StepLabelsTest, ALongerWayToSuccessHasNoLabel) {
  EXPECT_THAT(Labels(HandTree({{"p q g", 1}, {"p a b h", 1}})), ElementsAre("+p", "+q"));
  EXPECT_THAT(Labels(HandTree({{"p q g", 0.9}, {"p a b h", 1}})), ElementsAre("+p", "+a", "+b"))
      << "what ends with less than success is none";
}

TEST_F(StepLabelsTest, WhatNobodyKnowsHasNoLabel) {
  // Neither good nor a mistake: the other way out of "c" was no better.
  EXPECT_THAT(Labels(HandTree({{"g", 1}, {"c d e", 0}, {"c f", 0}})), ElementsAre("-c/2"));
}

TEST_F(StepLabelsTest, StepsThatWereRefusedHaveNone) {
  const Tree tree = WithRefusals(HandTree({{"p stuck q g", 1}, {"p stuckb x", 0}}));
  EXPECT_THAT(Labels(tree), ElementsAre("+p", "+q"));
}

TEST_F(StepLabelsTest, NothingIsKnownWhereNothingSucceeded) {
  EXPECT_THAT(Labels(HandTree({{"p a", 0}, {"p b c", 0}})), IsEmpty());
}

TEST_F(StepLabelsTest, AsManyGoodAsBadOnesAreChosen) {
  const Tree tree = HandTree({{"p q r g", 1}, {"p a b", 0}, {"p q c d", 0}, {"p q r e f", 0}});
  const std::vector<StepLabel> all = LabelSteps(tree, StateMap(tree, family_), family_, options_);
  EXPECT_THAT(Said(tree, all), ElementsAre("+p", "+q", "+r", "-a/1", "-c/1", "-e/1"));
  const auto counts = [&](const std::vector<StepLabel>& labels) {
    const auto good = std::ranges::count(labels, true, &StepLabel::good);
    EXPECT_TRUE(std::ranges::is_sorted(labels, {}, &StepLabel::node));
    return std::pair(good, std::ssize(labels) - good);
  };
  EXPECT_EQ(counts(Balanced(all, 0, RandomStream(1))), std::pair(3L, 3L));
  EXPECT_EQ(counts(Balanced(all, 5, RandomStream(1))), std::pair(2L, 2L));
  std::vector<StepLabel> few(all.begin() + 1, all.end());
  EXPECT_EQ(counts(Balanced(few, 0, RandomStream(1))), std::pair(2L, 2L));
}

}  // namespace
}  // namespace agentr
