#include "rollout/state_tree.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace agentr {

const StateTree::Transition* StateTree::Find(int state, std::string_view action) const {
  const auto& transitions = at(state).transitions;
  const auto found = std::ranges::find(transitions, action, &Transition::action);
  return found == transitions.end() ? nullptr : &*found;
}

int StateTree::Record(int state, std::string_view action, StepResult result, bool unchanged) {
  assert(Find(state, action) == nullptr);
  const int next = unchanged ? state : size();
  auto& transitions = states_[static_cast<size_t>(state)].transitions;
  transitions.push_back({std::string(action), std::move(result), next});
  const size_t into = transitions.size() - 1;
  if (!unchanged) states_.push_back({state, depth(state) + 1, into, {}});
  return next;
}

std::vector<int> StateTree::Path(int state) const {
  std::vector<int> path;
  for (; state >= 0; state = at(state).parent) path.push_back(state);
  std::ranges::reverse(path);
  return path;
}

const StateTree::Transition& StateTree::Into(int state) const {
  assert(state != kRoot);
  return at(at(state).parent).transitions[at(state).into];
}

StateTree::Bound StateTree::LowerBound() const {
  Bound bound;
  for (int state = 0; state < size(); ++state) {
    const auto& transitions = at(state).transitions;
    const auto loops = std::ranges::count(transitions, state, &Transition::state);
    bound.unchanged += loops;
    if (loops == static_cast<long>(transitions.size())) bound.walks += depth(state) + 1;
  }
  return bound;
}

}  // namespace agentr
