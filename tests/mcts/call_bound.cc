#include "tests/mcts/call_bound.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace agentr {

VisitedStates Visits(const Tree& tree, const TaskFamily& family) {
  VisitedStates visited;
  StateTree& states = visited.states;
  std::vector<int> state_of = {StateTree::kRoot};
  std::vector<std::string> shown = {tree.root().observation};  // by state
  visited.visits.push_back({StateTree::kRoot, StateTree::kRoot});
  // Siblings stand beside one another, and nodes in the order of the expansions.
  for (int first = 1; first < tree.size();) {
    const int parent = tree.node(first).parent;
    const int state = state_of[static_cast<size_t>(parent)];
    bool asked = false;  // for an outcome that was not known
    bool left = false;   // by a session, for another state
    int child = first;
    for (; child < tree.size() && tree.node(child).parent == parent; ++child) {
      const Node& node = tree.node(child);
      const StateTree::Transition* known = states.Find(state, node.action);
      if (known != nullptr) {
        state_of.push_back(known->state);
        continue;
      }
      const bool unchanged = family.LeavesStateUnchanged(shown[static_cast<size_t>(state)],
                                                         node.action, node.observation);
      state_of.push_back(states.Record(state, node.action, {}, unchanged));
      asked = true;
      if (unchanged) continue;
      left = true;
      shown.push_back(node.observation);
      visited.visits.push_back({state, state_of.back()});
    }
    if (asked && !left) visited.visits.push_back({state, state});
    first = child;
  }
  return visited;
}

long FewestWalks(const StateTree& states, std::span<const Visit> visits) {
  const auto cost = [&](size_t visit) -> long { return states.depth(visits[visit].leads_to) + 1; };
  std::vector<std::vector<int>> paths;
  for (const Visit& visit : visits) paths.push_back(states.Path(visit.state));
  std::vector<size_t> order(visits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return cost(a) > cost(b); });
  std::vector<bool> begins(visits.size(), true);  // no session comes to it from another visit
  long walks = 0;
  for (const size_t visit : order) {
    size_t next = visit + 1;
    while (next < visits.size() &&
           !(begins[next] && std::ranges::binary_search(paths[next], visits[visit].leads_to))) {
      ++next;
    }
    if (next == visits.size()) {
      walks += cost(visit);
    } else {
      begins[next] = false;
    }
  }
  return walks;
}

long FewestCalls(const Tree& tree, const TaskFamily& family) {
  const VisitedStates visited = Visits(tree, family);
  return FewestWalks(visited.states, visited.visits) + visited.states.LowerBound().unchanged;
}

}  // namespace agentr
