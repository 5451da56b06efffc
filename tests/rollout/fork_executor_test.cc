#include "rollout/fork_executor.h"

#include <gtest/gtest.h>

#include "rollout/replay_executor.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using Op = ToyEnvironment::Op;
using Call = ToyEnvironment::Call;
using Fault = ToyEnvironment::Fault;

constexpr int kForkTask = 3;

bool IsExpansion(const Call& call) { return call.op == Op::kExpand; }

// An executor with a world of its own.
struct ForkRig {
  int To(int state, const std::string& action) const {
    return executor.states().Find(state, action)->state;
  }
  // Starts, and goes a, b, c; the last state.
  int GoThreeDeep() {
    EXPECT_TRUE(executor.Start());
    int state = 0;
    for (const std::string action : {"go a", "go b", "go c"}) {
      EXPECT_TRUE(executor.Execute(state, {action, "go x"}, false));
      state = To(state, action);
    }
    return state;
  }

  ToyEnvironment world{/*forks=*/true};
  ToyFamily family;
  std::atomic<bool> stop = false;
  ForkExecutor executor{kForkTask, world, family, stop};
};

TEST(ForkExecutorTest, AnExpansionIsOneCall) {
  ForkRig run;
  EXPECT_EQ(run.executor.Start(), "Goal 3.");
  ASSERT_TRUE(run.executor.Execute(0, {"go a", "look", "end 1", "go b"}, false));
  EXPECT_EQ(run.world.counts.calls(), 2);
  ASSERT_TRUE(run.executor.Execute(run.To(0, "go b"), {"go c"}, false));
  EXPECT_EQ(run.world.counts.calls(), 3);
  const ExecutionStats stats = run.executor.stats();
  EXPECT_EQ(stats.opens, 1);
  EXPECT_EQ(stats.resets, 1);
  EXPECT_EQ(stats.expansions, 2);
  EXPECT_EQ(stats.steps, 5);
  EXPECT_EQ(stats.replays, 0);
  EXPECT_EQ(run.world.counts.misuses, 0);
}

TEST(ForkExecutorTest, AsksOnlyForWhatIsNotKnown) {
  ForkRig run;
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"go a", "look"}, false));
  ASSERT_TRUE(run.executor.Execute(0, {"look", "go a"}, false));
  EXPECT_EQ(run.world.counts.expansions, 1);
  EXPECT_EQ(run.executor.stats().cache_hits, 2);
  ASSERT_TRUE(run.executor.Execute(0, {"look", "go b"}, false));
  EXPECT_EQ(run.world.counts.expansions, 2);
  EXPECT_EQ(run.executor.stats().cache_hits, 3);
}

TEST(ForkExecutorTest, UnchangedActionsStayInTheState) {
  ForkRig run;
  ASSERT_TRUE(run.executor.Start());
  ASSERT_TRUE(run.executor.Execute(0, {"stuck", "go a", "look"}, false));
  EXPECT_EQ(run.To(0, "stuck"), 0);
  EXPECT_EQ(run.To(0, "look"), 0);
  EXPECT_EQ(run.executor.states().size(), 2);
  ASSERT_TRUE(run.executor.Execute(run.To(0, "go a"), {"go b"}, false));
  EXPECT_EQ(run.executor.states().Find(1, "go b")->result.observation, "task 3: go a go b");
}

TEST(ForkExecutorTest, ForkAndReplayGiveTheSameStates) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    ForkRig forks;
    ToyEnvironment plain;
    SessionPool pool(plain, 4);
    ReplayExecutor replays(kForkTask, pool, forks.family, forks.stop);
    ASSERT_TRUE(RandomExecution(forks.executor, ToyActions(), seed, 15));
    ASSERT_TRUE(RandomExecution(replays, ToyActions(), seed, 15));
    EXPECT_EQ(Describe(forks.executor.states(), ToyActions()),
              Describe(replays.states(), ToyActions()))
        << "seed " << seed;
    EXPECT_EQ(forks.world.counts.misuses, 0);
  }
}

TEST(LostSessionsTest, AreBuiltAgainAlongThePath) {
  ForkRig run;
  const int deep = run.GoThreeDeep();
  run.world.Restart();
  ASSERT_TRUE(run.executor.Execute(deep, {"go d"}, false));
  EXPECT_EQ(run.executor.states().Find(deep, "go d")->result.observation,
            "task 3: go a go b go c go d");
  const ExecutionStats stats = run.executor.stats();
  EXPECT_EQ(stats.opens, 2);
  EXPECT_EQ(stats.resets, 2);
  EXPECT_EQ(stats.replays, 3);
  EXPECT_EQ(stats.faults, 1);
  EXPECT_EQ(stats.mismatches, 0);
  // Another branch costs only what is new in it.
  const int x = run.To(run.To(0, "go a"), "go x");
  ASSERT_TRUE(run.executor.Execute(x, {"go y"}, false));
  EXPECT_EQ(run.executor.stats().replays, 4);
  EXPECT_EQ(run.world.counts.live, 1) << "the old root is closed";
}

TEST(LostSessionsTest, MayBeLostAgainWhileTheyAreBuilt) {
  ForkRig run;
  const int deep = run.GoThreeDeep();
  const int64_t before = run.world.counts.expansions;
  // The first call finds them lost, the third is in the middle of the rebuilding.
  run.world.fault = FailCalls(ErrorKind::kSessionLost, [&](const Call& call) {
    const int64_t number = call.number - before;
    return IsExpansion(call) && (number == 1 || number == 3);
  });
  ASSERT_TRUE(run.executor.Execute(deep, {"go d"}, false));
  EXPECT_EQ(run.executor.stats().faults, 2);
  EXPECT_EQ(run.executor.states().Find(deep, "go d")->result.observation,
            "task 3: go a go b go c go d");
}

TEST(ForkExecutorTest, LostSessionsAreGivenUpAfterSomeAttemptsAndOtherErrorsAreNotRepeated) {
  for (const auto& [kind, attempts] :
       {std::pair(ErrorKind::kSessionLost, 3), {ErrorKind::kRejected, 1}}) {
    ForkRig run;
    ASSERT_TRUE(run.executor.Start());
    run.world.fault = FailCalls(kind, IsExpansion);
    const auto executed = run.executor.Execute(0, {"go a"}, false);
    ASSERT_FALSE(executed) << Name(kind);
    EXPECT_EQ(executed.error().kind, kind);
    EXPECT_EQ(run.world.counts.expansions, attempts) << Name(kind);
  }
}

TEST(ForkExecutorTest, ValidActionsAreAskedAgainIfTheSessionsAreLost) {
  ForkRig run;
  const int deep = run.GoThreeDeep();
  run.world.Restart();
  const auto valid = run.executor.ValidActions(deep);
  ASSERT_TRUE(valid);
  EXPECT_EQ(*valid, std::vector<std::string>{"go go a go b go c"});
  EXPECT_EQ(run.executor.stats().faults, 1);
  EXPECT_EQ(run.world.counts.misuses, 0);
}

TEST(ForkExecutorTest, AServerThatDoesNotComeBackEndsTheTask) {
  ForkRig run;
  const int deep = run.GoThreeDeep();
  run.world.fault = [](const Call&) { return Fault{ErrorKind::kUnreachable}; };
  const auto executed = run.executor.Execute(deep, {"go d"}, false);
  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error().kind, ErrorKind::kUnreachable);
  EXPECT_EQ(run.world.counts.opens, 1) << "the client has made its own attempts already";
}

TEST(ForkExecutorTest, CountsRebuiltStatesThatDiffer) {
  ForkRig run;
  const int deep = run.GoThreeDeep();
  run.world.Restart();
  run.world.garble = [](std::string observation, const Call& call) {
    return call.action == "go b" ? observation + "!" : observation;
  };
  ASSERT_TRUE(run.executor.Execute(deep, {"go d"}, false));
  EXPECT_EQ(run.executor.stats().mismatches, 1);
}

TEST(ForkExecutorTest, StopCancels) {
  ForkRig run;
  ASSERT_TRUE(run.executor.Start());
  run.stop = true;
  const auto executed = run.executor.Execute(0, {"go a"}, false);
  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(run.world.counts.expansions, 0);
}

TEST(ForkExecutorTest, TheEnvironmentDecidesWhichExecutor) {
  ToyFamily family;
  const std::atomic<bool> stop = false;
  for (const bool can_expand : {false, true}) {
    ToyEnvironment world(can_expand);
    SessionPool pool(world, 2);
    const auto executor = MakeExecutor(1, world, pool, family, stop);
    EXPECT_EQ(dynamic_cast<ForkExecutor*>(executor.get()) != nullptr, can_expand);
  }
}

}  // namespace
}  // namespace agentr
