#include "revision/make/step_labels.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "revision/find/paths.h"

namespace agentr {

namespace {

using Edges = std::map<int, std::set<int>>;

// The number of edges from the nearest of `from`, for those that can be reached.
std::map<int, int> Distances(const Edges& edges, const std::set<int>& from) {
  std::map<int, int> distances;
  std::deque<int> open(from.begin(), from.end());
  for (const int start : from) distances.emplace(start, 0);
  for (; !open.empty(); open.pop_front()) {
    const auto next = edges.find(open.front());
    if (next == edges.end()) continue;
    for (const int kind : next->second) {
      if (distances.emplace(kind, distances.at(open.front()) + 1).second) open.push_back(kind);
    }
  }
  return distances;
}

// True for each step between kinds of states (KindsOf) that lies on a shortest way from the root to
// a success of which the tree knows, wherever in the tree the steps were taken.
class ShortestWays {
 public:
  ShortestWays(const Tree& tree, const StateMap& states, std::vector<int> kinds, double success)
      : kinds_(std::move(kinds)) {
    Edges forwards, backwards;
    for (int i = 0; i < states.size(); ++i) {
      if (states.state(i).parent < 0) continue;
      const int from = Kind(states.state(i).parent);
      forwards[from].insert(Kind(i));
      backwards[Kind(i)].insert(from);
    }
    std::set<int> successes;
    for (const LeafPath& path : LeafPaths(tree)) {
      const int state = states.Of(path.leaf);
      if (AtLeast(path.value, success) && states.state(state).ended) successes.insert(Kind(state));
    }
    done_ = Distances(forwards, {Kind(StateMap::kRoot)});
    left_ = Distances(backwards, successes);
  }

  // The states before and behind the step.
  bool Contain(int before, int behind) const {
    const auto left = left_.find(Kind(behind));
    return left != left_.end() &&
           done_.at(Kind(before)) + 1 + left->second == left_.at(Kind(StateMap::kRoot));
  }

 private:
  int Kind(int state) const { return kinds_[static_cast<size_t>(state)]; }

  std::vector<int> kinds_;
  std::map<int, int> done_;  // steps from the root
  std::map<int, int> left_;  // steps to a success; absent where none is known
};

}  // namespace

std::vector<StepLabel> LabelSteps(const Tree& tree, const StateMap& states,
                                  const TaskFamily& family, const MistakeOptions& options) {
  std::vector<StepLabel> labels;
  std::set<int> labelled;  // the states behind the steps
  for (Mistake& mistake : FindMistakes(tree, states, family, options)) {
    if (mistake.refused) continue;
    labelled.insert(states.Of(mistake.node));
    labels.push_back({mistake.node, false, std::move(mistake.name), mistake.evidence});
  }
  const ShortestWays ways(tree, states, KindsOf(tree, states, family), family.SuccessReward());
  for (int node = 1; node < tree.size(); ++node) {
    const StateMap::State& behind = states.At(node);
    if (!states.Changed(node) || behind.ended || !ways.Contain(behind.parent, states.Of(node))) {
      continue;
    }
    if (labelled.insert(states.Of(node)).second) labels.push_back({node, true, "", 0});
  }
  std::ranges::sort(labels, {}, &StepLabel::node);
  return labels;
}

std::vector<StepLabel> Balanced(std::vector<StepLabel> labels, int most, RandomStream random) {
  random.Shuffle(labels);
  const auto good =
      std::ranges::partition(labels, [](const StepLabel& label) { return !label.good; });
  const auto bad_count = static_cast<size_t>(good.begin() - labels.begin());
  size_t each = std::min(bad_count, good.size());
  if (most > 0) each = std::min(each, static_cast<size_t>(most) / 2);
  std::vector<StepLabel> chosen(labels.begin(), labels.begin() + static_cast<int64_t>(each));
  chosen.insert(chosen.end(), good.begin(), good.begin() + static_cast<int64_t>(each));
  std::ranges::sort(chosen, {}, &StepLabel::node);
  return chosen;
}

}  // namespace agentr
