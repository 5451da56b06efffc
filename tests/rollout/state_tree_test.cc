#include "rollout/state_tree.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/random.h"

namespace agentr {
namespace {

using testing::ElementsAre;

TEST(StateTreeTest, RemembersWhatAnActionDid) {
  StateTree states;
  EXPECT_EQ(states.size(), 1);
  EXPECT_EQ(states.Find(0, "go"), nullptr);
  const int next = states.Record(0, "go", {"You went.", 0.5, true}, /*unchanged=*/false);
  EXPECT_EQ(next, 1);
  ASSERT_NE(states.Find(0, "go"), nullptr);
  EXPECT_EQ(states.Find(0, "go")->result, (StepResult{"You went.", 0.5, true}));
  EXPECT_EQ(states.Find(0, "go")->state, next);
  EXPECT_EQ(states.Find(0, "Go"), nullptr);
  EXPECT_EQ(states.Find(next, "go"), nullptr) << "another state, another outcome";
}

TEST(StateTreeTest, UnchangedActionsShareTheState) {
  StateTree states;
  const int next = states.Record(0, "go", {}, false);
  EXPECT_EQ(states.Record(next, "look", {"A wall."}, /*unchanged=*/true), next);
  EXPECT_EQ(states.Find(next, "look")->state, next);
  EXPECT_EQ(states.size(), 2);
}

TEST(StateTreeTest, PathAndIntoNameTheWay) {
  StateTree states;
  states.Record(0, "look", {}, true);
  const int a = states.Record(0, "a", {"A"}, false);
  const int b = states.Record(0, "b", {"B"}, false);
  const int ac = states.Record(a, "c", {"AC"}, false);
  EXPECT_THAT(states.Path(0), ElementsAre(0));
  EXPECT_THAT(states.Path(ac), ElementsAre(0, a, ac));
  EXPECT_EQ(states.depth(ac), 2);
  EXPECT_EQ(states.Into(b).action, "b");
  EXPECT_EQ(states.Into(ac).action, "c");
  EXPECT_EQ(states.Into(ac).result.observation, "AC");
}

TEST(StateTreeTest, LowerBoundByHand) {
  StateTree states;
  EXPECT_EQ(states.LowerBound().walks, 1) << "the first reset";
  EXPECT_EQ(states.LowerBound().unchanged, 0);
  const int a = states.Record(0, "a", {}, false);
  states.Record(0, "look", {}, true);
  states.Record(0, "b", {}, false);
  const int ac = states.Record(a, "c", {}, false);
  states.Record(ac, "look", {}, true);
  // Leaves b (1 step and a reset) and ac (2 and a reset).
  EXPECT_EQ(states.LowerBound().walks, 5);
  EXPECT_EQ(states.LowerBound().unchanged, 2);
}

TEST(StateTreeTest, LowerBoundAgainstBruteForce) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed);
    StateTree states;
    std::set<int> inner;
    long unchanged_actions = 0;
    const auto actions = random.Below(40);
    for (uint64_t i = 0; i < actions; ++i) {
      const auto from = static_cast<int>(random.Below(static_cast<uint64_t>(states.size())));
      const bool unchanged = random.Chance(0.3);
      states.Record(from, fmt::format("action {}", i), {}, unchanged);
      if (unchanged) {
        ++unchanged_actions;
      } else {
        inner.insert(from);
      }
    }
    long walks = 0;
    for (int state = 0; state < states.size(); ++state) {
      // A path of k states is k - 1 steps and a reset.
      if (!inner.contains(state)) walks += static_cast<long>(states.Path(state).size());
    }
    EXPECT_EQ(states.LowerBound().walks, walks) << "seed " << seed;
    EXPECT_EQ(states.LowerBound().unchanged, unchanged_actions) << "seed " << seed;
  }
}

}  // namespace
}  // namespace agentr
