// The fewest calls with which any client could have made a tree, on a server without forks.
//
// A session goes forward or is reset, and a search asks for one expansion after the other, each
// chosen by what those before it gave. StateTree::LowerBound leaves that order out: there, one walk
// to each leaf is enough. Here, a state that the search comes back to, after its session has gone
// on, takes another walk. Even so the bound knows the future: which session will be needed where.
#pragma once

#include <span>
#include <vector>

#include "mcts/tree.h"
#include "rollout/state_tree.h"
#include "tasks/task_family.h"

namespace agentr {

// A session has to stand in `state` and goes on to `leads_to`, a child of it; or stays, where an
// expansion changes nothing at all.
struct Visit {
  int state = StateTree::kRoot;
  int leads_to = StateTree::kRoot;

  bool operator==(const Visit&) const = default;
};

// The states of a tree, and the visits in the order of its expansions.
struct VisitedStates {
  StateTree states;
  std::vector<Visit> visits;
};
VisitedStates Visits(const Tree& tree, const TaskFamily& family);

// The fewest resets and state-changing steps that make these visits in their order, by any number
// of sessions.
//
// A session from one reset to the next is a chain of visits, each at or below the place where the
// one before it ended, and costs a reset and a step for each turn down to its end. The cheapest
// chains go on from as many ends as can be, the deepest first: what going on saves depends on the
// end alone. Each end takes the earliest visit that is free; as the visits below an end are all
// below the ends above it too, that never takes one from an end that has no other.
long FewestWalks(const StateTree& states, std::span<const Visit> visits);

// FewestWalks, and a call for each action that changed nothing.
long FewestCalls(const Tree& tree, const TaskFamily& family);

}  // namespace agentr
