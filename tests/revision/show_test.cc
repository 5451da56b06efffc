#include "revision/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Trajectory AllParts() {
  Trajectory trajectory;
  trajectory.first_observation = "Goal\nis here.";
  trajectory.turns = {{Part::kPrefix, 1, "Action: p", "p", "P"},
                      {Part::kBad, 2, "Action: b", "b", "B"},
                      {Part::kRevision, -1, "Oh.\nAction: wait", "wait", "ok."},
                      {Part::kRecovery, -1, "Action: r", "r", "R"},
                      {Part::kGood, 3, "Action: g", "g", "G"}};
  return trajectory;
}

TEST(ShowTrajectoryTest, MarksTellThePartsApart) {
  EXPECT_EQ(ShowTrajectory(AllParts(), "row 1", false, 80),
            "row 1\n"
            "  Goal is here.\n"
            "  Action: p\n"
            "    -> P\n"
            "- Action: b\n"
            "-   -> B\n"
            "~ Oh. Action: wait\n"
            "~   -> ok.\n"
            "^ Action: r\n"
            "^   -> R\n"
            "+ Action: g\n"
            "+   -> G\n");
}

TEST(ShowTrajectoryTest, ColoursToo) {
  const std::string text = ShowTrajectory(AllParts(), "row 1", true, 80);
  EXPECT_THAT(text, HasSubstr("\x1b[31m- Action: b"));
  EXPECT_THAT(text, HasSubstr("\x1b[33m~ Oh."));
  EXPECT_THAT(text, HasSubstr("\x1b[32m+ Action: g"));
  EXPECT_THAT(text, Not(HasSubstr("m  Action: p")));
}

TEST(ShowTrajectoryTest, LinesAreAsLongInAnyLanguage) {
  Trajectory trajectory = AllParts();
  trajectory.turns = {{Part::kGood, 1, "äbcdefé", "g", "0123456789"},
                      {Part::kGood, 2, "äbcdéfgh", "g", "0"}};
  EXPECT_EQ(ShowTrajectory(trajectory, "t", false, 9),
            "t\n  Goal i…\n+ äbcdefé\n+   -> 0…\n+ äbcdéf…\n+   -> 0\n");
}

TEST(ShowTrajectoryTest, ControlCharactersAreWrittenOut) {
  Trajectory trajectory = AllParts();
  trajectory.first_observation = "seen\x1b[2J";
  trajectory.turns = {{Part::kPrefix, 1, "said\a", "g", "heard\u009b1m"}};
  EXPECT_EQ(ShowTrajectory(trajectory, "t", false, 80),
            "t\n  seen\\x1b[2J\n  said\\x07\n    -> heard\\x9b1m\n");
}

TEST(ShowTrajectoryTest, SaysWhatIsLeftOut) {
  Trajectory trajectory = AllParts();
  trajectory.dropped_turns = 1;
  const std::string text = ShowTrajectory(trajectory, "t", false, 80);
  EXPECT_THAT(text, HasSubstr("… 1 turns left out"));
  EXPECT_THAT(text, Not(HasSubstr("Action: p")));
}

}  // namespace
}  // namespace agentr
