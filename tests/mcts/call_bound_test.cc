#include "tests/mcts/call_bound.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"
#include "rollout/replay_executor.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

// a and b below the root, c below a.
StateTree SmallStates() {
  StateTree states;
  const int a = states.Record(StateTree::kRoot, "a", {}, false);
  states.Record(StateTree::kRoot, "b", {}, false);
  states.Record(a, "c", {}, false);
  return states;
}

TEST(CallBoundTest, ByHand) {
  const StateTree states = SmallStates();
  const std::vector<Visit> line = {{0, 0}, {0, 1}, {1, 3}};
  EXPECT_EQ(FewestWalks(states, line), 3) << "a reset, a, c";
  const std::vector<Visit> fork = {{0, 0}, {0, 1}, {0, 2}, {1, 3}};
  EXPECT_EQ(FewestWalks(states, fork), 5) << "reset, a, c; reset, b";
  const std::vector<Visit> back = {{0, 0}, {0, 1}, {1, 3}, {1, 1}};
  EXPECT_EQ(FewestWalks(states, back), 5) << "reset, a, c; and to a again";
  const std::vector<Visit> in_time = {{0, 0}, {0, 1}, {1, 1}, {1, 3}};
  EXPECT_EQ(FewestWalks(states, in_time), 3) << "a waits at its state";
}

// The cheapest way through the visits from number `next` on, trying every session for each.
long Cheapest(const StateTree& states, const std::vector<Visit>& visits, size_t next,
              std::vector<int>& sessions) {
  if (next == visits.size()) return 0;
  const auto [state, leads_to] = visits[next];
  const long step = leads_to == state ? 0 : 1;
  sessions.push_back(leads_to);
  long best = states.depth(state) + 1 + step + Cheapest(states, visits, next + 1, sessions);
  sessions.pop_back();
  const std::vector<int> path = states.Path(state);
  for (size_t i = 0; i < sessions.size(); ++i) {
    const int at = sessions[i];
    if (!std::ranges::binary_search(path, at)) continue;
    sessions[i] = leads_to;
    const long walk = states.depth(state) - states.depth(at) + step;
    best = std::min(best, walk + Cheapest(states, visits, next + 1, sessions));
    sessions[i] = at;
  }
  return best;
}

TEST(CallBoundTest, AgainstEveryWayToUseSessions) {
  int more_than_leaves = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed);
    StateTree states;
    std::vector<Visit> visits = {{}};
    while (visits.size() < 9) {
      const auto from = static_cast<int>(random.Below(static_cast<uint64_t>(states.size())));
      const bool stays = random.Chance(0.4);
      const int to = states.Record(from, fmt::format("{}", visits.size()), {}, stays);
      visits.push_back({from, to});
    }
    std::vector<int> sessions;
    const long fewest = Cheapest(states, visits, 0, sessions);
    EXPECT_EQ(FewestWalks(states, visits), fewest) << "seed " << seed;
    if (fewest > states.LowerBound().walks) ++more_than_leaves;
  }
  EXPECT_GT(more_than_leaves, 50) << "the order of the visits matters";
}

TEST(CallBoundTest, ExpansionsVisitStates) {
  const ToyFamily family;
  Tree tree({"toy", 1, "hand", "", ""}, family.Instruction(), "Goal 1.");
  const int look = tree.Add(0, Turn("look", "Nothing changes."));
  const int a = tree.Add(0, Turn("go a", "a"));
  tree.Add(0, Turn("go b", "b"));
  tree.Add(look, Turn("look up", "Nothing changes."));  // the first state again, and stays
  tree.Add(look, Turn("go a", "a"));                    // known
  tree.Add(a, Turn("look", "Nothing changes."));
  tree.Add(a, Turn("go c", "c"));
  EXPECT_THAT(
      Visits(tree, family).visits,
      testing::ElementsAre(Visit{0, 0}, Visit{0, 1}, Visit{0, 2}, Visit{0, 0}, Visit{1, 3}));
  EXPECT_EQ(FewestCalls(tree, family), 9)
      << "5 to c and b, 1 back to the root, 3 that change nothing";
}

TEST(CallBoundTest, ATreeTellsTheStatesOfItsSearch) {
  for (int task_id = 1; task_id <= 10; ++task_id) {
    ToySearch search;
    const Tree tree = search.MustRun(task_id);
    const VisitedStates visited = Visits(tree, search.family);
    EXPECT_EQ(visited.states.LowerBound().walks, search.stats.min_replay_calls);
    EXPECT_EQ(visited.states.LowerBound().unchanged, search.stats.unchanged_bound);
  }
}

// What a search really costs lies between the bound and a little more: it does not know the future.
TEST(CallBoundTest, SearchesComeCloseToIt) {
  int64_t calls = 0;
  int64_t fewest = 0;
  for (int task_id = 1; task_id <= 20; ++task_id) {
    ToySearch search(/*forks=*/false, /*session_limit=*/1000);
    const Tree tree = search.MustRun(task_id);
    const long bound = FewestCalls(tree, search.family);
    EXPECT_GE(search.world.counts.calls(), bound) << "task " << task_id;
    EXPECT_GE(bound, search.stats.min_replay_calls + search.stats.unchanged_bound);
    calls += search.world.counts.calls();
    fewest += bound;
  }
  EXPECT_LE(static_cast<double>(calls), 1.05 * static_cast<double>(fewest));
}

}  // namespace
}  // namespace agentr
