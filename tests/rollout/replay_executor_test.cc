#include "rollout/replay_executor.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tasks/revision_hints.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using testing::ElementsAre;
using Op = ToyEnvironment::Op;
using Call = ToyEnvironment::Call;
using Fault = ToyEnvironment::Fault;

constexpr int kReplayTask = 3;

bool IsStep(const Call& call) { return call.op == Op::kStep; }

// An executor with a world of its own.
template <typename Family>
struct RigOf {
  explicit RigOf(int sessions = 64)
      : pool(world, sessions), executor(kReplayTask, pool, family, stop) {}

  int64_t calls() const { return world.counts.calls(); }
  int To(int state, const std::string& action) const {
    return executor.states().Find(state, action)->state;
  }
  // Calls counted by the executor and by the world are the same, and nobody was misused.
  void ExpectHonest() const {
    const ExecutionStats stats = executor.stats();
    EXPECT_EQ(stats.resets, world.counts.resets);
    EXPECT_EQ(stats.steps + stats.replays + stats.faults, world.counts.steps);
    EXPECT_EQ(world.counts.misuses, 0);
  }

  ToyEnvironment world;
  Family family;
  std::atomic<bool> stop = false;
  SessionPool pool;
  ReplayExecutor executor;
};
using ReplayRig = RigOf<ToyFamily>;

TEST(ReplayExecutorTest, StartTellsTheFirstObservation) {
  ReplayRig run;
  EXPECT_EQ(run.executor.Start(), "Goal 3.");
  EXPECT_EQ(run.world.counts.opens, 1);
  EXPECT_EQ(run.calls(), 1);
}

// Notes what it is asked about.
class NotingFamily : public ToyFamily {
 public:
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override {
    asked.push_back(std::string(before) + " | " + std::string(action));
    return ToyFamily::LeavesStateUnchanged(before, action, after);
  }
  mutable std::vector<std::string> asked;
};

TEST(ReplayExecutorTest, TheFamilySeesTheObservationOfTheState) {
  RigOf<NotingFamily> run(1);
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"look", "go a"}, false));
  ASSERT_TRUE(run.executor.Execute(run.To(0, "go a"), {"look", "go b"}, false));
  EXPECT_THAT(run.family.asked, ElementsAre("Goal 3. | look", "Goal 3. | go a",
                                            "task 3: go a | look", "task 3: go a | go b"))
      << "what a look answered is not what the state shows";
}

TEST(ReplayExecutorTest, TheFamilySeesTextsAsTheAgentDoes) {
  RigOf<NotingFamily> run(1);
  run.world.garble = [](std::string observation, const Call&) { return "Now:\n" + observation; };
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"go a"}, false));
  const int a = run.To(0, "go a");
  ASSERT_TRUE(run.executor.Execute(a, {"go b"}, false));
  EXPECT_THAT(run.family.asked, ElementsAre("Now:\nGoal 3. | go a", "Now: task 3: go a | go b"));
  EXPECT_EQ(run.executor.History(a).back().content, "Now: task 3: go a");
  EXPECT_EQ(run.executor.states().Find(0, "go a")->result.observation, "Now:\ntask 3: go a")
      << "as the environment gave it";
}

TEST(ReplayExecutorTest, MeetsTheLowerBoundByHand) {
  ReplayRig run;
  ASSERT_TRUE(run.executor.Start());                                      // reset
  ASSERT_TRUE(run.executor.Execute(0, {"go a", "go b", "look"}, false));  // look, a; reset, b
  EXPECT_EQ(run.calls(), 5);
  ASSERT_TRUE(run.executor.Execute(run.To(0, "go a"), {"go c"}, false));  // c
  EXPECT_EQ(run.calls(), 6);
  const int b = run.To(0, "go b");
  ASSERT_TRUE(run.executor.Execute(b, {"go c", "go d"}, false));  // c; reset, b, d
  EXPECT_EQ(run.calls(), 10);
  const ExecutionStats stats = run.executor.stats();
  EXPECT_EQ(stats.min_replay_calls + stats.unchanged_bound, 10);
  EXPECT_EQ(stats.replays, 1);
  EXPECT_EQ(run.executor.states().Find(b, "go d")->result.observation, "task 3: go b go d");
  run.ExpectHonest();
}

TEST(ReplayExecutorTest, MeetsTheLowerBoundOnRandomTrees) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    ReplayRig run(/*sessions=*/1000);
    const std::vector<std::string> actions = {"go a", "go b", "go c", "look", "look up", "end 1"};
    ASSERT_TRUE(RandomExecution(run.executor, actions, seed, 20));
    const ExecutionStats stats = run.executor.stats();
    EXPECT_EQ(run.calls(), stats.min_replay_calls + stats.unchanged_bound) << "seed " << seed;
    run.ExpectHonest();
  }
}

TEST(ReplayExecutorTest, OneSessionGivesTheSameStatesWithMoreCalls) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ReplayRig many;
    ReplayRig one(/*sessions=*/1);
    ASSERT_TRUE(RandomExecution(many.executor, ToyActions(), seed, 15));
    ASSERT_TRUE(RandomExecution(one.executor, ToyActions(), seed, 15));
    EXPECT_EQ(Describe(one.executor.states(), ToyActions()),
              Describe(many.executor.states(), ToyActions()));
    EXPECT_EQ(one.world.counts.opens, 1);
    EXPECT_GE(one.calls(), many.calls());
    EXPECT_GE(many.calls(), many.executor.stats().min_replay_calls);
    one.ExpectHonest();
    many.ExpectHonest();
  }
}

TEST(ReplayExecutorTest, RemembersOutcomes) {
  ReplayRig run;
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"go a", "look"}, false));
  const int64_t calls = run.calls();
  ASSERT_TRUE(run.executor.Execute(0, {"look", "go a"}, false));
  EXPECT_EQ(run.calls(), calls);
  EXPECT_EQ(run.executor.stats().cache_hits, 2);
}

TEST(ReplayExecutorTest, TakesWhatLikelyChangesNothingFirst) {
  ReplayRig run;
  std::vector<std::string> order;
  run.world.fault = [&](const Call& call) -> std::optional<Fault> {
    if (call.op == Op::kStep) order.emplace_back(call.action);
    return std::nullopt;
  };
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"go a", "look", "stuck", "look up"}, false));
  EXPECT_THAT(order, ElementsAre("look", "look up", "go a", "stuck"));
}

TEST(ReplayExecutorTest, TellsTheFamilyWhatLedToTheState) {
  class ListeningFamily : public ToyFamily {
   public:
    std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                      std::span<const std::string> actions) const override {
      heard.assign(history.begin(), history.end());
      return ToyFamily::LikelyUnchanged(history, actions);
    }
    mutable std::vector<Message> heard;
  };
  RigOf<ListeningFamily> run(4);
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"look", "go a"}, false));
  EXPECT_THAT(run.family.heard, ElementsAre(Message{"user", "Goal 3."}));
  ASSERT_TRUE(run.executor.Execute(run.To(0, "go a"), {"look", "go b"}, false));
  EXPECT_THAT(run.family.heard,
              ElementsAre(Message{"user", "Goal 3."}, Message{"assistant", "Action: go a"},
                          Message{"user", "task 3: go a"}));
}

TEST(ReplayExecutorTest, SessionsAtTheLastTurnAndAtEndsAreUsedAgain) {
  ReplayRig run;
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"go a", "go b"}, /*last_turn=*/true));
  EXPECT_EQ(run.world.counts.opens, 1);
  ReplayRig ends;
  ASSERT_TRUE(ends.executor.Start());
  ASSERT_TRUE(ends.executor.Execute(0, {"end 1", "end 0", "go a"}, false));
  EXPECT_EQ(ends.world.counts.opens, 1);
  ReplayRig open;
  ASSERT_TRUE(open.executor.Start());
  ASSERT_TRUE(open.executor.Execute(0, {"go a", "go b"}, false));
  EXPECT_EQ(open.world.counts.opens, 2);
}

TEST(ReplayExecutorTest, ItsEndFreesItsSessions) {
  ToyEnvironment world;
  ToyFamily family;
  const std::atomic<bool> stop = false;
  SessionPool pool(world, 64);
  for (int task_id = 0; task_id < 3; ++task_id) {
    ReplayExecutor executor(task_id, pool, family, stop);
    ASSERT_TRUE(executor.Start());
    ASSERT_TRUE(executor.Execute(0, {"go a", "go b"}, false));
  }
  EXPECT_EQ(world.counts.opens, 2);
}

TEST(ReplayExecutorTest, LostRepliesChangeNothingButTheCost) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    ReplayRig calm;
    ReplayRig rough;
    rough.world.fault = RandomFaults(Op::kStep, 0.1, seed);
    ASSERT_TRUE(RandomExecution(calm.executor, ToyActions(), seed, 12));
    ASSERT_TRUE(RandomExecution(rough.executor, ToyActions(), seed, 12));
    EXPECT_EQ(Describe(rough.executor.states(), ToyActions()),
              Describe(calm.executor.states(), ToyActions()));
    EXPECT_EQ(rough.executor.stats().mismatches, 0);
    rough.ExpectHonest();
  }
}

TEST(ReplayExecutorTest, AStepThatTookEffectIsNotTakenTwice) {
  for (const bool takes_effect : {false, true}) {
    ReplayRig run;
    run.world.fault = [&](const Call& call) -> std::optional<Fault> {
      if (call.op != Op::kStep || call.number != 2) return std::nullopt;
      return Fault{ErrorKind::kSessionLost, takes_effect};
    };
    ASSERT_TRUE(run.executor.Start());
    ASSERT_TRUE(run.executor.Execute(0, {"go a"}, false));
    const int a = run.To(0, "go a");
    ASSERT_TRUE(run.executor.Execute(a, {"go b"}, false));
    EXPECT_EQ(run.executor.states().Find(a, "go b")->result.observation, "task 3: go a go b");
    EXPECT_EQ(run.executor.stats().faults, 1);
    EXPECT_EQ(run.executor.stats().replays, 1);
    run.ExpectHonest();
  }
}

// Goes to the state behind "go a", "go b" and "go c" a second time, by a replay whose second step
// loses its reply.
struct LostReplay : ReplayRig {
  explicit LostReplay(bool takes_effect) : ReplayRig(/*sessions=*/1) {
    world.fault = [=, this](const Call& call) -> std::optional<Fault> {
      if (call.op != Op::kStep || !lost.contains(call.number)) return std::nullopt;
      return Fault{ErrorKind::kSessionLost, takes_effect};
    };
  }

  void Run() {
    ASSERT_TRUE(executor.Start());
    int state = 0;
    for (const char* action : {"go a", "go b", "go c"}) {
      ASSERT_TRUE(executor.Execute(state, {action}, false));
      state = To(state, action);
    }
    ASSERT_TRUE(executor.Execute(0, {"go d"}, false));      // step 4 needs a reset
    ASSERT_TRUE(executor.Execute(state, {"go e"}, false));  // steps 5 to 7 are replayed
    EXPECT_EQ(executor.states().Find(state, "go e")->result.observation,
              world.garble ? "go e" : "task 3: go a go b go c go e");
    EXPECT_EQ(executor.stats().faults, lost.size());
    EXPECT_EQ(executor.stats().mismatches, 0);
    ExpectHonest();
  }

  std::set<int64_t> lost = {6};  // steps by their number
};

TEST(ReplayExecutorTest, TheObservationTellsWhereALostReplyLeftTheSession) {
  for (const bool takes_effect : {false, true}) {
    LostReplay run(takes_effect);
    run.Run();
    EXPECT_EQ(run.world.counts.observations, 1);
    EXPECT_EQ(run.world.counts.resets, 3) << "none for the lost reply";
    EXPECT_EQ(run.world.counts.steps, takes_effect ? 8 : 9);
  }
}

TEST(ReplayExecutorTest, AnEnvironmentThatDoesNotRepeatItsObservationIsAskedOnce) {
  LostReplay run(/*takes_effect=*/true);
  run.world.repeats_observation = false;
  run.lost = {6, 8};
  run.Run();
  EXPECT_EQ(run.world.counts.observations, 1);
  EXPECT_EQ(run.world.counts.resets, 5);
}

TEST(ReplayExecutorTest, StatesThatLookAlikeAreReplayed) {
  LostReplay run(/*takes_effect=*/true);
  run.world.garble = [](std::string, const Call& call) {
    return call.action == "go a" || call.action == "go b" ? "Taken." : std::string(call.action);
  };
  run.Run();
  EXPECT_EQ(run.world.counts.observations, 0);
  EXPECT_EQ(run.world.counts.resets, 4);
}

TEST(ReplayExecutorTest, CountsReplaysThatAreAnsweredDifferently) {
  ReplayRig run;
  run.world.garble = [](std::string observation, const Call& call) {
    const bool replay = call.op == Op::kStep && call.action == "go a" && call.number > 1;
    return replay ? observation + "!" : observation;
  };
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"go a"}, false));
  const int a = run.To(0, "go a");
  ASSERT_TRUE(run.executor.Execute(a, {"go b", "go c", "go d"}, false));
  EXPECT_EQ(run.executor.stats().mismatches, 2);
  EXPECT_EQ(run.executor.states().Find(0, "go a")->result.observation, "task 3: go a")
      << "the first answer stands";
}

// Its observations tell the time, which is no part of the state.
class ClockFamily : public ToyFamily, public RevisionHints {
  const RevisionHints& hints() const override { return *this; }
  Readings WithoutReadings(std::string_view observation) const override {
    return {std::string(observation.substr(0, observation.find(" at "))), {}};
  }
};

TEST(ReplayExecutorTest, OtherReadingsAreNoOtherAnswers) {
  RigOf<ClockFamily> run(1);
  run.world.garble = [](std::string observation, const Call& call) {
    return fmt::format("{} at {}", observation, call.number);
  };
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"go a"}, false));
  ASSERT_TRUE(run.executor.Execute(run.To(0, "go a"), {"go b", "go c"}, false));
  EXPECT_GT(run.executor.stats().replays, 0);
  EXPECT_EQ(run.executor.stats().mismatches, 0);
}

TEST(ReplayExecutorTest, CountsOtherFirstObservations) {
  ReplayRig run;
  run.world.garble = [](std::string observation, const Call& call) {
    return call.op == Op::kReset ? fmt::format("{} {}", observation, call.number) : observation;
  };
  EXPECT_EQ(run.executor.Start(), "Goal 3. 1");
  ASSERT_TRUE(run.executor.Execute(0, {"go a", "go b"}, false));
  EXPECT_EQ(run.executor.stats().mismatches, 1);
}

TEST(ReplayExecutorTest, ARejectedStepIsNotRepeatedAndOneThatFailedIsLeftToTheRun) {
  for (const ErrorKind kind : {ErrorKind::kRejected, ErrorKind::kEnvironment}) {
    ReplayRig run;
    run.world.fault = FailCalls(kind, IsStep);
    ASSERT_TRUE(run.executor.Start());
    const auto executed = run.executor.Execute(0, {"go a"}, false);
    ASSERT_FALSE(executed) << Name(kind);
    EXPECT_EQ(executed.error().kind, kind);
    EXPECT_EQ(run.world.counts.steps, 1) << Name(kind);
  }
}

TEST(ReplayExecutorTest, AServerThatLosesEverythingIsGivenUp) {
  ReplayRig run;
  run.world.fault = FailCalls(ErrorKind::kSessionLost, IsStep);
  ASSERT_TRUE(run.executor.Start());
  const auto executed = run.executor.Execute(0, {"go a"}, false);
  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error().kind, ErrorKind::kSessionLost);
  EXPECT_THAT(executed.error().message,
              ::testing::HasSubstr("after 300 lost replies to 300 steps"));
  EXPECT_EQ(run.world.counts.steps, 300);
}

TEST(ReplayExecutorTest, AFailedResetOrOpenEndsTheTask) {
  for (const Op op : {Op::kOpen, Op::kReset}) {
    ReplayRig run;
    run.world.fault = FailCalls(ErrorKind::kUnreachable, [op](const Call& call) {
      return call.op == op && call.number > 1;
    });
    ASSERT_TRUE(run.executor.Start());
    const auto executed = run.executor.Execute(0, {"go a", "go b"}, false);
    ASSERT_FALSE(executed);
    EXPECT_EQ(executed.error().kind, ErrorKind::kUnreachable);
    EXPECT_EQ(run.executor.stats().faults, 0);
  }
}

TEST(ReplayExecutorTest, ARestartedServerIsMadeUpFor) {
  ReplayRig run;
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"go a"}, false));
  run.world.Restart();
  const int a = run.To(0, "go a");
  ASSERT_TRUE(run.executor.Execute(a, {"go b"}, false));
  EXPECT_EQ(run.executor.states().Find(a, "go b")->result.observation, "task 3: go a go b");
  EXPECT_EQ(run.executor.stats().faults, 1);
}

TEST(ReplayExecutorTest, StopCancelsBeforeTheNextCall) {
  ReplayRig run;
  run.world.fault = [&](const Call& call) -> std::optional<Fault> {
    if (call.op == Op::kStep && call.number == 2) run.stop = true;
    return std::nullopt;
  };
  ASSERT_TRUE(run.executor.Start());
  const auto executed = run.executor.Execute(0, {"look", "look up", "look down"}, false);
  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(run.world.counts.steps, 2);
  EXPECT_FALSE(run.executor.Start());
}

}  // namespace
}  // namespace agentr
