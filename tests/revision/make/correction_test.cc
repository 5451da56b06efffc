#include "revision/make/correction.h"

#include <gmock/gmock.h>

namespace agentr {
namespace {

using ::testing::Field;

SplicedTurn Turn(Part part, const std::string& thought, const std::string& action,
                 const std::string& observation, bool refused = false) {
  SplicedTurn turn{part, 1, "Thought: " + thought + "\nAction: " + action, action, observation};
  turn.refused = refused;
  return turn;
}

// "get 1 log", then "craft a door", which is refused, and "craft planks", which says so first.
Trajectory Corrected() {
  Trajectory row{{{"user", "Play."}, {"assistant", "Ok."}}, "Goal: a door.", {}};
  row.turns = {Turn(Part::kPrefix, "need a log.", "get 1 log", "Got 1 log"),
               Turn(Part::kBad, "have planks.", "craft a door", "Could not", true),
               Turn(Part::kGood, "No. need planks.", "craft planks", "Crafted"),
               Turn(Part::kGood, "have planks.", "craft a door", "Crafted")};
  row.turns[2].admits = "No.";
  return row;
}

auto Texts(const std::vector<std::string>& texts) {
  std::vector<::testing::Matcher<Message>> each;
  for (const std::string& text : texts) each.push_back(Field(&Message::content, text));
  return ::testing::ElementsAreArray(each);
}

TEST(CorrectionOf, PrefersTheTurnThatMendsToTheRefusedOneAgain) {
  const std::optional<RowPreference> pair = CorrectionOf(Corrected(), 0);
  ASSERT_TRUE(pair);
  EXPECT_THAT(pair->prompt,
              Texts({"Play.", "Ok.", "Goal: a door.", "Thought: need a log.\nAction: get 1 log",
                     "Got 1 log", "Thought: have planks.\nAction: craft a door", "Could not"}));
  EXPECT_EQ(pair->chosen,
            (Message{"assistant", "Thought: No. need planks.\nAction: craft planks"}));
  EXPECT_EQ(pair->rejected,
            (Message{"assistant", "Thought: No. have planks.\nAction: craft a door"}));
}

TEST(CorrectionOf, TheRefusedTurnMayStandThereMoreTimes) {
  const std::optional<RowPreference> once = CorrectionOf(Corrected(), 0);
  const std::optional<RowPreference> again = CorrectionOf(Corrected(), 2);
  ASSERT_TRUE(once && again);
  std::vector<Message> prompt = once->prompt;
  for (int i = 0; i < 2; ++i) {
    prompt.push_back(once->rejected);
    prompt.push_back({"user", "Could not"});
  }
  EXPECT_EQ(again->prompt, prompt);
  EXPECT_EQ(again->rejected, once->rejected);

  Trajectory slip = Corrected();
  slip.turns[1].slipped = true;
  EXPECT_EQ(CorrectionOf(slip, 2)->prompt, once->prompt) << "it did not say so itself";
}

TEST(CorrectionOf, WhatWasAdmittedBeforeIsNotAdmittedTwice) {
  Trajectory row = Corrected();
  row.turns[1] = Turn(Part::kBad, "No. have planks.", "craft a door", "Could not", true);
  EXPECT_EQ(CorrectionOf(row, 0)->rejected.content,
            "Thought: No. have planks.\nAction: craft a door");
}

TEST(CorrectionOf, ARevisionTurnOfItsOwnIsInThePrompt) {
  Trajectory row = Corrected();
  row.turns[2].admits.reset();
  row.turns.insert(row.turns.begin() + 2, Turn(Part::kRevision, "No.", "wait", "ok."));
  const std::optional<RowPreference> pair = CorrectionOf(row, 0);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->prompt.back(), (Message{"user", "ok."}));
  EXPECT_EQ(pair->rejected.content, "Thought: have planks.\nAction: craft a door");
}

TEST(CorrectionOf, OthersAreNone) {
  Trajectory accepted = Corrected();
  accepted.turns[1].refused = false;
  EXPECT_FALSE(CorrectionOf(accepted, 0));
  Trajectory same = Corrected();
  same.turns[2].action = "craft a door";
  EXPECT_FALSE(CorrectionOf(same, 0)) << "the same action was right there";
  Trajectory untrained = Corrected();
  untrained.turns[2].contradicts = true;
  EXPECT_FALSE(CorrectionOf(untrained, 0));
  Trajectory good = Corrected();
  good.turns.erase(good.turns.begin() + 1);
  EXPECT_FALSE(CorrectionOf(good, 0)) << "there is no mistake";
  Trajectory cut = Corrected();
  cut.turns.resize(2);
  EXPECT_FALSE(CorrectionOf(cut, 0));
}

}  // namespace
}  // namespace agentr
