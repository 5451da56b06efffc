#include "revision/make/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/fake_environment.h"
#include "tasks/revision_hints.h"
#include "tasks/task_file.h"
#include "tasks/task_kinds.h"
#include "tests/mcts/toy_environment.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A world of the actions "p", "a", "b", "g": what was "saw"n is the actions that did anything; "g"
// ends with reward 1, or 0.6 after "b", or nothing after "x"; "end" ends with 0; "bad" is a
// disaster.
StepResult World(int task_id, const std::vector<std::string>& actions) {
  if (actions.empty()) return {"Goal " + std::to_string(task_id) + "."};
  std::string saw = "saw";
  for (const std::string& action : actions) saw += action == "wait" ? "" : " " + action;
  const std::string& last = actions.back();
  if (last == "wait") return {"Nothing changes"};
  if (last == "bad") return {saw, -1, false};
  if (last == "end") return {saw, 0, true};
  // The trace of a bad step is not seen at the end, except that of "b".
  if (last != "g") return {saw};
  if (saw.find(" x") != std::string::npos) return {saw, 0, true};
  return {saw.find(" b") != std::string::npos ? saw : "saw p g",
          saw.find(" b") != std::string::npos ? 0.6 : 1.0, true};
}

class ReplayTest : public ::testing::TestWithParam<bool> {  // whether the environment can fork
 protected:
  // Splices the tree's first pair with `bad_steps` and adds it to what is replayed.
  void Add(const std::vector<Ended>& episodes, int bad_steps) {
    const Tree tree = HandTree(episodes);
    const PathPair pair = PairPaths(tree, LeafPaths(tree), {}, Pairing::kAll).front();
    trajectories_.push_back(HandSplice(tree, pair, bad_steps, {"Oh.", "wait", "ok."}));
  }

  struct Episodes {
    std::vector<ReplayedEpisode> episodes;
    ExecutionStats calls;
  };

  Episodes Run() {
    Replayer replayer(3, family_, environment_, pool_, stop_);
    EXPECT_EQ(replayer.Start().value(), "Goal 3.");
    Episodes run;
    for (const Trajectory& trajectory : trajectories_) {
      run.episodes.push_back(replayer.Run(StateTree::kRoot, ActionsOf(trajectory)).value());
    }
    run.calls = replayer.calls();
    return run;
  }

  Replay Only() { return JudgeReplay(trajectories_.front(), Run().episodes.front(), 0.5); }

  const ToyFamily family_;
  FakeEnvironment environment_{GetParam(), World};
  SessionPool pool_{environment_, 8};
  const std::atomic<bool> stop_ = false;
  std::vector<Trajectory> trajectories_;
};

INSTANTIATE_TEST_SUITE_P(Fork, ReplayTest, ::testing::Bool());

TEST_P(ReplayTest, VerifiedWhereAllComesOutAsExpected) {
  Add({{"p g", 1}, {"p a", 0}}, 1);
  const Replay replay = Only();
  EXPECT_EQ(replay.outcome, ReplayOutcome::kVerified);
  EXPECT_EQ(replay.reward, 1);
  EXPECT_EQ(replay.turns, 4U);
  EXPECT_THAT(replay.observations, IsEmpty());
}

TEST_P(ReplayTest, DivergedWhereObservationsDiffer) {
  Add({{"p g", 1}, {"p b", 0}}, 1);
  const Replay replay = Only();
  EXPECT_EQ(replay.outcome, ReplayOutcome::kDiverged);
  EXPECT_EQ(replay.reward, 0.6);
  EXPECT_THAT(replay.observations, ElementsAre(Pair(3U, "saw p b g")));
  ApplyReplay(replay, trajectories_.front());
  EXPECT_EQ(trajectories_.front().turns[3].observation, "saw p b g");
  EXPECT_EQ(trajectories_.front().turns[2].observation, "ok.");
}

TEST_P(ReplayTest, FailedBelowAlpha) {
  Add({{"p g", 1}, {"p x", 0}}, 1);
  EXPECT_EQ(Only().outcome, ReplayOutcome::kFailed);
  EXPECT_FALSE(Only().ended_bad);
}

TEST_P(ReplayTest, FailedWhereABadStepEndsTheEpisode) {
  Add({{"p g", 1}, {"p end", 0}}, 1);
  const Replay replay = Only();
  EXPECT_EQ(replay.outcome, ReplayOutcome::kFailed);
  EXPECT_TRUE(replay.ended_bad);
  EXPECT_EQ(replay.turns, 2U);
}

TEST_P(ReplayTest, ADisasterHasNoReward) {
  Add({{"p g", 1}, {"p bad", 0, End::kDisaster}}, 1);
  const Replay replay = Only();
  EXPECT_EQ(replay.outcome, ReplayOutcome::kFailed);
  EXPECT_EQ(replay.reward, 0);
}

TEST_P(ReplayTest, AnEarlierEndCutsTheTrajectory) {
  Add({{"p g q", 1}, {"p a", 0}}, 1);
  const Replay replay = Only();
  EXPECT_EQ(replay.outcome, ReplayOutcome::kDiverged);
  ApplyReplay(replay, trajectories_.front());
  EXPECT_EQ(trajectories_.front().turns.size(), 4U);
  EXPECT_EQ(trajectories_.front().turns.back().action, "g");
}

TEST_P(ReplayTest, ATrainedTurnThatIsRefusedIsAFailure) {
  Add({{"p g", 1}, {"p a", 0}}, 1);
  ReplayedEpisode episode = Run().episodes.front();
  EXPECT_EQ(JudgeReplay(trajectories_.front(), episode, 0.5).outcome, ReplayOutcome::kVerified);
  episode.back().refused = true;
  EXPECT_EQ(JudgeReplay(trajectories_.front(), episode, 0.5).outcome, ReplayOutcome::kFailed);
}

TEST_P(ReplayTest, SequencesOfATaskShareTheirBeginnings) {
  Add({{"p q a g", 1}, {"p q a b", 0}}, 1);  // p q a b wait g
  Add({{"p q a g", 1}, {"p q a x", 0}}, 1);  // p q a x wait g
  Add({{"p q a g", 1}, {"p q a x", 0}}, 1);
  const Episodes run = Run();
  ASSERT_EQ(run.episodes.size(), 3U);
  for (const ReplayedEpisode& episode : run.episodes) EXPECT_EQ(episode.size(), 6U);
  EXPECT_EQ(run.calls.steps, 3 + 2 * 3);  // of 18
  EXPECT_EQ(run.episodes[1].back().result, run.episodes[2].back().result);
}

// "b" does something, whatever a task file says about its answer.
TEST_P(ReplayTest, WhatATaskFileCallsRefusedIsTakenAgain) {
  const std::string name = "wrong_about_b";
  if (FindTaskKind(name) == nullptr) {
    RegisterTaskKind(ReadTaskFile(
        "[task]\nname = \"" + name + "\"\ninstruction = \"Go.\"\n[judgement]\nrefused = ' b$'\n",
        name));
  }
  const auto family = TaskKindOf(name).family();
  Replayer replayer(3, *family, environment_, pool_, stop_);
  ASSERT_TRUE(replayer.Start());
  const std::vector<std::string> other = {"p", "a"};
  ASSERT_TRUE(replayer.Run(StateTree::kRoot, other));
  const std::vector<std::string> actions = {"p", "b", "b", "g"};
  const ReplayedEpisode episode = replayer.Run(StateTree::kRoot, actions).value();
  ASSERT_EQ(episode.size(), 4U);
  EXPECT_TRUE(episode[1].refused && episode[1].unchanged);
  EXPECT_EQ(replayer.Seen(episode[2].state), "saw p") << "what the state was entered with";
  EXPECT_EQ(episode[3].result.reward, 0.6);
}

TEST_P(ReplayTest, AFailureOfTheEnvironmentIsNoOutcome) {
  FakeEnvironment broken(GetParam(), World, [](const std::string& call, int64_t) {
    return call == "open" ? std::optional<Error>()
                          : Error{ErrorKind::kServer, "the server is down"};
  });
  SessionPool pool(broken, 8);
  Replayer replayer(3, family_, broken, pool, stop_);
  const bool started = replayer.Start().has_value();
  const std::vector<std::string> actions = {"p", "g"};
  EXPECT_FALSE(started && replayer.Run(StateTree::kRoot, actions).has_value());
}

// In the toy world "wait" is an action like any other, and its answer is shown.
TEST(ReplayRevisionTest, WhereTheEnvironmentTakesTheActionItsAnswerIsShown) {
  Trajectory trajectory;
  trajectory.turns = {{Part::kBad, 1, "", "a", "A"},
                      {Part::kRevision, -1, "", "wait", "ok."},
                      {Part::kGood, 2, "", "g", "G"}};
  const ReplayedEpisode episode = {{{"A"}}, {{"Time passes."}}, {{"G", 1, true}}};
  const Replay replay = JudgeReplay(trajectory, episode, 0.5);
  EXPECT_EQ(replay.outcome, ReplayOutcome::kVerified);
  EXPECT_THAT(replay.observations, ElementsAre(Pair(1U, "Time passes.")));
}

// What the environment says to a revision of the search is not what the agent was told there.
TEST(ReplayRevisionTest, ARevisionOfTheSearchIsAsExpected) {
  Trajectory trajectory;
  trajectory.turns = {{Part::kGood, 1, "", "wait", "ok."}, {Part::kGood, 2, "", "g", "G"}};
  const ReplayedEpisode episode = {{{"Could not wait"}, true, true}, {{"G", 1, true}}};
  const ToyFamily family;
  EXPECT_EQ(JudgeReplay(trajectory, episode, 0.5, &family).outcome, ReplayOutcome::kVerified);
  trajectory.turns[0].action = "sleep";
  EXPECT_EQ(JudgeReplay(trajectory, episode, 0.5, &family).outcome, ReplayOutcome::kFailed);
}

// An instrument that shows the time.
class ClockFamily : public ToyFamily, public RevisionHints {
 public:
  const RevisionHints& hints() const override { return *this; }
  Readings WithoutReadings(std::string_view observation) const override {
    if (!observation.starts_with("clock: ")) return {std::string(observation), {}};
    return {"clock: #", {std::string(observation.substr(7))}};
  }
};

ReplayOutcome OfReading(const std::string& shown, const std::string& later_text,
                        const TaskFamily* family) {
  Trajectory trajectory;
  trajectory.turns = {{Part::kGood, 1, "read", "read", "clock: 7"},
                      {Part::kGood, 2, later_text, "g", "G"}};
  return JudgeReplay(trajectory, {{{shown}}, {{"G", 1, true}}}, 0.5, family).outcome;
}

TEST(ReplayRevisionTest, AReadingMayDifferWhereNoLaterTurnSpeaksOfIt) {
  const ClockFamily family;
  EXPECT_EQ(OfReading("clock: 8", "Done, as 17 and 7a say.", &family), ReplayOutcome::kVerified);
  EXPECT_EQ(OfReading("clock: 8", "It is 7.", &family), ReplayOutcome::kDiverged);
  EXPECT_EQ(OfReading("clock: 7", "It is 7.", &family), ReplayOutcome::kVerified);
  EXPECT_EQ(OfReading("It stands still.", "Done.", &family), ReplayOutcome::kDiverged);
  EXPECT_EQ(OfReading("clock: 8", "Done.", nullptr), ReplayOutcome::kDiverged);
}

TEST(ReplayRevisionTest, AlphaItselfIsEnough) {
  Trajectory trajectory;
  trajectory.turns = {{Part::kPrefix, 1, "", "g", "G"}};
  EXPECT_EQ(JudgeReplay(trajectory, {{{"G", 1.0, true}}}, 1.0).outcome, ReplayOutcome::kVerified);
  EXPECT_EQ(JudgeReplay(trajectory, {{{"G", 0.9, true}}}, 1.0).outcome, ReplayOutcome::kFailed);
}

}  // namespace
}  // namespace agentr
