#include "revision/find/states.h"

#include <algorithm>
#include <map>
#include <string>

#include "revision/find/paths.h"

namespace agentr {

std::vector<Message> HistoryOf(const Tree& tree, const TaskFamily& family, int node) {
  std::vector<Message> history = {{"user", tree.root().observation}};
  for (const int step : tree.Path(node)) {
    const Node& turn = tree.node(step);
    if (turn.parent < 0 || family.IsRevision(turn.action, turn.observation)) continue;
    history.push_back({"assistant", turn.response, turn.reasoning});
    history.push_back({"user", turn.observation});
  }
  return history;
}

StateMap::StateMap(const Tree& tree, const TaskFamily& family)
    : tree_(tree),
      states_(1),
      of_(static_cast<size_t>(tree.size())),
      refused_(static_cast<size_t>(tree.size())) {
  // For each state, the first node that entered each of its child states.
  std::vector<std::vector<int>> children(1);
  for (int node = 1; node < tree.size(); ++node) {
    const auto above = static_cast<size_t>(Of(tree.node(node).parent));
    AddNode(family, node, children[above]);
    children.resize(states_.size());
    const bool entered = Changed(node) && state(Of(node)).entered == node;
    if (entered) children[above].push_back(node);
  }
  CountLeaves();
}

void StateMap::AddNode(const TaskFamily& family, int node, const std::vector<int>& children) {
  const Node& turn = tree_.node(node);
  const int above = Of(turn.parent);
  const std::string& before = tree_.node(state(above).entered).observation;
  const bool over = turn.end == End::kDone || turn.end == End::kDisaster;
  const auto at = static_cast<size_t>(node);
  of_[at] = above;
  if (family.IsRevision(turn.action, turn.observation)) return;
  refused_[at] = !over && family.IsRefusal(before, turn.action, turn.observation);
  if (!over && family.LeavesStateUnchanged(before, turn.action, turn.observation)) return;
  const auto same = std::ranges::find_if(
      children, [&](int child) { return tree_.node(child).action == turn.action; });
  if (same != children.end()) {
    of_[at] = Of(*same);
  } else {
    of_[at] = size();
    states_.push_back({above, state(above).depth + 1, node, over, -1, 0});
  }
}

bool StateMap::Changed(int node) const {
  const int parent = tree_.node(node).parent;
  return parent < 0 || Of(parent) != Of(node);
}

void StateMap::CountLeaves() {
  for (const LeafPath& leaf : LeafPaths(tree_)) {
    int entering = Changed(leaf.leaf) ? Of(leaf.leaf) : -1;
    for (int at = Of(leaf.leaf); at >= 0; at = state(at).parent) {
      State& above = states_[static_cast<size_t>(at)];
      above.best = std::max(above.best, leaf.value);
      if (at != entering) ++above.leaves;
    }
  }
  // An expanded node shows more of its state than an unexpanded one.
  for (int node = tree_.size() - 1; node > 0; --node) {
    State& own = states_[static_cast<size_t>(Of(node))];
    if (Changed(node) && !tree_.node(node).children.empty()) own.entered = node;
  }
}

int StateMap::Common(int a, int b) const {
  // A state has a greater index than its ancestors.
  while (a != b) {
    int& later = a > b ? a : b;
    later = state(later).parent;
  }
  return a;
}

std::string KeyOf(const Tree& tree, const StateMap& states, const TaskFamily& family, int state) {
  const StateMap::State& known = states.state(state);
  if (known.ended) return "";
  return family.hints().StateKey(HistoryOf(tree, family, known.entered));
}

std::vector<int> KindsOf(const Tree& tree, const StateMap& states, const TaskFamily& family) {
  std::vector<int> kinds;
  std::map<std::string, int> known;
  for (int i = 0; i < states.size(); ++i) {
    const std::string key = KeyOf(tree, states, family, i);
    kinds.push_back(key.empty() ? i : known.try_emplace(key, i).first->second);
  }
  return kinds;
}

}  // namespace agentr
