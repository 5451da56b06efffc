// The environment states behind a search tree.
//
// A state is identified by the actions that led to it and changed something. Nodes whose actions
// left the state unchanged share one state, and so do siblings with the same action. The
// environment is queried once for an action in a state, and the outcome is stored here.
// Environments are deterministic, so the stored transition stays valid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clients/environment.h"

namespace agentr {

class StateTree {
 public:
  struct Transition {
    std::string action;
    StepResult result;
    int state = 0;  // the resulting state: the same one if the action left it unchanged
  };

  StateTree() : states_(1) {}

  static constexpr int kRoot = 0;

  int size() const { return static_cast<int>(states_.size()); }
  int depth(int state) const { return at(state).depth; }

  // The outcome of `action` in `state`, or nullptr if it was never taken. Valid until the next
  // Record.
  const Transition* Find(int state, std::string_view action) const;

  // Stores the outcome of `action` in `state`; returns the resulting state.
  int Record(int state, std::string_view action, StepResult result, bool unchanged);

  // The states from the root to `state`, both included, in increasing order of ids.
  std::vector<int> Path(int state) const;

  // The transition that leads into `state` (not the root) from its parent. Valid until Record.
  const Transition& Into(int state) const;

  // The least number of environment calls of any client without forks: for each leaf a reset and a
  // replay of its path, because a session only moves forward, and one call for each transition that
  // left its state unchanged.
  struct Bound {
    long walks = 0;      // sum over leaves of depth + 1 (the reset)
    long unchanged = 0;  // transitions that left the state as it was
  };
  Bound LowerBound() const;

 private:
  struct State {
    int parent = -1;
    int depth = 0;
    size_t into = 0;  // index of the parent's transition that leads here
    std::vector<Transition> transitions;
  };
  const State& at(int state) const { return states_[static_cast<size_t>(state)]; }

  std::vector<State> states_;
};

}  // namespace agentr
