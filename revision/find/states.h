// The environment states behind the nodes of a search tree.
//
// A node whose action did not change the state (TaskFamily::LeavesStateUnchanged) has the state of
// its parent, and nodes with the same action in the same state share a state. So the states form a
// tree themselves, and a path is a sequence of steps that changed something. An ended node (done,
// disaster) always has its own state.
#pragma once

#include <string>
#include <vector>

#include "mcts/tree.h"
#include "tasks/task_family.h"

namespace agentr {

// The first observation and the turns that led to `node`, without those that admit a mistake: the
// answer to these is not the environment's (TaskFamily::IsRevision), and they change nothing. What
// RevisionHints asks for.
std::vector<Message> HistoryOf(const Tree& tree, const TaskFamily& family, int node);

class StateMap {
 public:
  struct State {
    int parent = -1;     // -1 at the root
    int depth = 0;       // state-changing steps since the root
    int entered = 0;     // the node that represents the state: an expanded one if there is any
    bool ended = false;  // the episode ended here
    double best = -1;    // the best value of an ended leaf in or below it; -1 if there is none
    int leaves = 0;      // ended leaves below the nodes that entered it: the evidence about it
  };

  static constexpr int kRoot = 0;

  // The tree outlives the map.
  StateMap(const Tree& tree, const TaskFamily& family);

  int size() const { return static_cast<int>(states_.size()); }
  const State& state(int index) const { return states_[static_cast<size_t>(index)]; }

  // The state after the turn of `node`.
  int Of(int node) const { return of_[static_cast<size_t>(node)]; }
  const State& At(int node) const { return state(Of(node)); }
  // True if the turn of `node` led to another state, and at the root.
  bool Changed(int node) const;
  // True if the environment refused the action of `node`.
  bool Refused(int node) const { return refused_[static_cast<size_t>(node)]; }

  // The deepest state on the way to both.
  int Common(int a, int b) const;

 private:
  void AddNode(const TaskFamily& family, int node, const std::vector<int>& children);
  void CountLeaves();

  const Tree& tree_;
  std::vector<State> states_;
  std::vector<int> of_;        // by node
  std::vector<bool> refused_;  // by node
};

// RevisionHints::StateKey of the state; "" where the family cannot compare it or the episode ended.
std::string KeyOf(const Tree& tree, const StateMap& states, const TaskFamily& family, int state);

// By state, a number that equal states (KeyOf) share; one without a key has a number of its own.
std::vector<int> KindsOf(const Tree& tree, const StateMap& states, const TaskFamily& family);

}  // namespace agentr
