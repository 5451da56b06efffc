#include "revision/make/preferences.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "common/options.h"
#include "revision/make/clean_turns.h"

namespace agentr {
namespace {

// Children of one node that took the same step into the same state.
struct Group {
  std::vector<int> nodes;
  int visits = 0;
  double sum = 0;      // of the rewards
  bool ended = false;  // an episode ended here: the reward is exact
  bool refused = false;

  double value() const { return visits > 0 ? sum / visits : 0; }
  bool Reliable(int min_visits) const { return visits > 0 && (ended || visits >= min_visits); }
};

bool SameStep(const Tree& tree, const StateMap& states, int a, int b) {
  if (states.Of(a) != states.Of(b)) return false;
  // Different steps that change nothing differ in what they show.
  return states.Changed(a) || tree.node(a).action == tree.node(b).action;
}

class NodePreferences {
 public:
  NodePreferences(const Tree& tree, const StateMap& states, const TaskFamily& family,
                  const PreferenceOptions& options, PreferenceCounts& counts)
      : tree_(tree), states_(states), family_(family), options_(options), counts_(counts) {}

  // The pairs of the children of `parent`.
  std::vector<Preference> Of(int parent) {
    const std::vector<int>& children = tree_.node(parent).children;
    const std::vector<Group> groups = Groups(children);
    std::vector<Preference> pairs;
    for (size_t a = 0; a < groups.size(); ++a) {
      CountInside(groups[a]);
      for (size_t b = a + 1; b < groups.size(); ++b) {
        const bool a_is_better = IsBetter(groups[a], groups[b]);
        AddBest(parent, groups[a_is_better ? a : b], groups[a_is_better ? b : a], pairs);
      }
    }
    std::ranges::stable_sort(pairs, std::greater(), [](const Preference& pair) {
      return pair.chosen.value - pair.rejected.value;
    });
    const auto most = static_cast<size_t>(options_.max_per_node);
    if (most > 0 && pairs.size() > most) {
      counts_.over_limit += static_cast<int64_t>(pairs.size() - most);
      pairs.resize(most);
    }
    return pairs;
  }

 private:
  std::vector<Group> Groups(const std::vector<int>& children) const {
    std::vector<Group> groups;
    for (const int child : children) {
      auto group = std::ranges::find_if(groups, [&](const Group& other) {
        return SameStep(tree_, states_, other.nodes.front(), child);
      });
      if (group == groups.end()) group = groups.insert(groups.end(), Group());
      const Node& node = tree_.node(child);
      group->nodes.push_back(child);
      group->refused = states_.Refused(child);
      group->visits += node.visits;
      group->sum += node.value;
      group->ended |= node.end == End::kDone || node.end == End::kDisaster;
    }
    return groups;
  }

  // Whether `a` is the one to be chosen, if it is good enough.
  bool IsBetter(const Group& a, const Group& b) const {
    if (options_.refusals && a.refused != b.refused && a.value() == b.value()) return b.refused;
    return a.value() >= b.value();
  }

  // Whether the values of both are known well enough to compare them.
  bool Comparable(const Group& better, const Group& worse) const {
    if (options_.refusals && worse.refused && !better.refused) return better.visits > 0;
    return better.Reliable(options_.min_visits) && worse.Reliable(options_.min_visits);
  }

  void CountInside(const Group& group) {
    const auto n = static_cast<int64_t>(group.nodes.size());
    counts_.siblings += n * (n - 1) / 2;
    counts_.same_step += n * (n - 1) / 2;
  }

  // One pair of the two groups, if there is one: the one with the most visited nodes.
  void AddBest(int parent, const Group& better, const Group& worse,
               std::vector<Preference>& pairs) {
    const auto all = static_cast<int64_t>(better.nodes.size() * worse.nodes.size());
    counts_.siblings += all;
    if (!Comparable(better, worse)) {
      counts_.uncertain += all;
      return;
    }
    if (better.value() - worse.value() < std::max(options_.margin, 1e-9)) {
      counts_.close += all;
      return;
    }
    std::pair<int, int> best = {-1, -1};
    int64_t possible = 0;
    for (const int chosen : better.nodes) {
      for (const int rejected : worse.nodes) {
        if (!Possible(chosen, rejected)) continue;
        ++possible;
        if (best.first < 0 ||
            Visits(chosen) + Visits(rejected) > Visits(best.first) + Visits(best.second)) {
          best = {chosen, rejected};
        }
      }
    }
    if (possible == 0) return;
    counts_.repeated += possible - 1;
    pairs.push_back({parent,
                     {best.first, better.value(), better.visits},
                     {best.second, worse.value(), worse.visits}});
  }

  bool Possible(int chosen, int rejected) {
    int64_t* reason = nullptr;
    if (tree_.node(chosen).dropped_turns != tree_.node(rejected).dropped_turns) {
      reason = &counts_.other_prompt;
    } else if (states_.Refused(chosen)) {
      reason = &counts_.refused;
    } else if (tree_.node(chosen).slip) {
      reason = &counts_.slipped;
    } else if (!SaysOneAction(tree_.node(chosen).response, family_)) {
      reason = &counts_.unclean;
    }
    if (reason != nullptr) ++*reason;
    return reason == nullptr;
  }

  int Visits(int node) const { return tree_.node(node).visits; }

  const Tree& tree_;
  const StateMap& states_;
  const TaskFamily& family_;
  const PreferenceOptions& options_;
  PreferenceCounts& counts_;
};

}  // namespace

void Declare(OptionSet& set, PreferenceOptions& o) {
  set.Add(
         "--preference_visits", o.min_visits,
         "Preferences: visits that each of the two responses needs, unless its episode ended there")
      .Min(1);
  set.Add("--preference_margin", o.margin,
          "Preferences: smallest difference of the two responses' average rewards")
      .Range(0, 1);
  set.Add("--preference_refusals", o.refusals,
          "Preferences: prefer accepted actions with success behind them also to refused actions "
          "that the search did not continue");
  set.Add("--preferences_per_node", o.max_per_node,
          "Preferences: largest number of pairs of one prompt, those with the greatest difference; "
          "0: all")
      .Min(0);
}

std::vector<Preference> FindPreferences(const Tree& tree, const StateMap& states,
                                        const TaskFamily& family, const PreferenceOptions& options,
                                        PreferenceCounts& counts) {
  NodePreferences of_node(tree, states, family, options, counts);
  std::vector<Preference> all;
  for (int node = 0; node < tree.size(); ++node) {
    for (Preference& pair : of_node.Of(node)) all.push_back(pair);
  }
  ++counts.trees;
  counts.pairs += static_cast<int64_t>(all.size());
  return all;
}

std::vector<Preference> LimitPreferences(std::vector<Preference> pairs, int most,
                                         RandomStream random, PreferenceCounts& counts) {
  if (most <= 0 || pairs.size() <= static_cast<size_t>(most)) return pairs;
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random.Shuffle(order);
  order.resize(static_cast<size_t>(most));
  std::ranges::sort(order);
  const auto left_out = static_cast<int64_t>(pairs.size() - order.size());
  counts.over_limit += left_out;
  counts.pairs -= left_out;
  std::vector<Preference> kept;
  for (const size_t i : order) kept.push_back(pairs[i]);
  return kept;
}

}  // namespace agentr
