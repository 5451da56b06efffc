// The environment states behind a search tree.
//
// A state is named by the actions that led to it and changed something. Nodes whose actions left
// the state unchanged share one state, and so do siblings with the same action: what an action does
// in a state is asked from the environment once and remembered here. Environments are
// deterministic, so a remembered transition is the transition.
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
    int state = 0;  // where it leads: the state it was taken in if it left that unchanged
  };

  StateTree() : states_(1) {}

  static constexpr int kRoot = 0;

  int size() const { return static_cast<int>(states_.size()); }
  int depth(int state) const { return at(state).depth; }

  // What `action` does in `state`, or nullptr if nobody has tried. Valid until the next Record.
  const Transition* Find(int state, std::string_view action) const;

  // Remembers what `action` did in `state`; the state it leads to.
  int Record(int state, std::string_view action, StepResult result, bool unchanged);

  // States from the root to `state`, both included; ids grow along it.
  std::vector<int> Path(int state) const;

  // The transition that leads into `state` (not the root) from its parent. Valid until Record.
  const Transition& Into(int state) const;

  // Environment calls that no client without forks can go below: a reset and a walk for each leaf,
  // as a session only goes forward, and a call for each transition that led back to its own state.
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
