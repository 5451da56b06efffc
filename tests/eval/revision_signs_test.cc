#include "eval/revision_signs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "eval/metrics.h"
#include "tests/common/fatal_error.h"
#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RevisionSignsTest, ATemplateIsTheBeginningOfAThought) {
  constexpr std::string_view kSlip = "I did {action} instead of {said}.";
  EXPECT_TRUE(BeginsWithTemplate("I did a instead of b. Then more.", kSlip));
  EXPECT_TRUE(BeginsWithTemplate("I did craft 1 x using 2.5 y instead of b.", kSlip));
  EXPECT_FALSE(BeginsWithTemplate("Now I did a instead of b.", kSlip)) << "not at the beginning";
  EXPECT_FALSE(BeginsWithTemplate("I did a.", kSlip));
  EXPECT_FALSE(BeginsWithTemplate("I did a instead of b", kSlip)) << "the full stop is missing";
  EXPECT_TRUE(BeginsWithTemplate("That did not work. I wait.", "That did not work."));
  EXPECT_FALSE(BeginsWithTemplate("", "That did not work."));
  EXPECT_TRUE(BeginsWithTemplate("click[a] was wrong", "{action} was wrong"));
  EXPECT_TRUE(BeginsWithTemplate("odd { brace", "odd {"));
}

TEST(RevisionSignsTest, TheFileOfPathCollectWithoutWhatFollowsARevision) {
  EXPECT_THAT(ParseRevisionThoughts("# a comment\nThat did not work.\n\n[slip]\nI did {action}.\n"
                                    "[recover]\nFirst I take that back.\n[recover get]\nFirst.\n"
                                    "[slip get]\nI got {object}.\n",
                                    "t.txt"),
              ElementsAre("That did not work.", "I did {action}.", "I got {object}."));
  const auto without = [] { ParseRevisionThoughts("[recover]\nFirst.\n", "t.txt"); };
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, without), HasSubstr("t.txt has no revision thought"));
}

TEST(RevisionSignsTest, ATurnIsJudgedByWhatTheAgentSaid) {
  const RevisionSigns signs = {"wait", {"Oh. {said} was meant."}};
  EpisodeTurn turn;
  turn.action = "get 1 log";
  turn.response = "Thought: Oh. get 2 log was meant. Again.\nAction: get 1 log";
  EXPECT_TRUE(signs.Revises(turn));
  EXPECT_FALSE(RevisionSigns().Revises(turn));
  // The turn shows the substitute as the agent's own, and the slip has what it said.
  turn.slip = Slip{.said = "get 2 log", .response = "Thought: I need logs.\nAction: get 2 log"};
  EXPECT_FALSE(signs.Revises(turn));
  std::swap(turn.response, turn.slip->response);
  EXPECT_TRUE(signs.Revises(turn));

  EpisodeTurn apart;
  apart.response = "Action: get 1 log";
  apart.reasoning = "Oh. get 2 log was meant.";
  EXPECT_TRUE(signs.Revises(apart));
  EpisodeTurn waits;
  waits.action = "wait";
  EXPECT_TRUE(signs.Revises(waits));
}

TEST(RevisionSignsTest, ARevisionInTheTurnThatMendsMayBeRefusedItself) {
  Episode episode = HandEpisode(1, 0, 0, {"x", "y", "z", "x"});
  for (const size_t refused : {0, 1, 3}) episode.turns[refused].refused = true;
  for (const size_t revises : {1, 2}) episode.turns[revises].response = "Thought: Oh. \nAction: y";
  const EvalMetrics silent = Measure(std::vector{episode}, {});
  EXPECT_EQ(silent.revision_events, 0);
  EXPECT_EQ(silent.errors, 2);
  MetricOptions options;
  options.slips = true;
  options.revisions.thoughts = {"Oh."};
  const EvalMetrics metrics = Measure(std::vector{episode}, options);
  EXPECT_EQ(metrics.revision_events, 2);
  EXPECT_EQ(metrics.errors, 3) << "the first revision ends the first run, and is refused";
  EXPECT_EQ(metrics.revised_errors, 2);
  EXPECT_EQ(metrics.mean_revision_length, 1);
  EXPECT_EQ(metrics.slips->revisions, 2);
  EXPECT_EQ(metrics.slips->false_revisions, 0);
  EXPECT_EQ(metrics.slips->refused_own, 3);
}

}  // namespace
}  // namespace agentr
