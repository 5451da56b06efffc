#include "revision/make/pruning.h"

#include <fmt/core.h>

#include <set>

#include "common/error.h"
#include "tasks/revision_hints.h"

namespace agentr {

SplicePlan Pruner::Shorten(const SplicePlan& plan, Prune mode, int slips, int good_slips) {
  if (mode == Prune::kOff) return plan;
  SplicePlan shorter{WithoutIdle(plan.prefix), plan.bad, WithoutIdle(plan.good)};
  if (mode == Prune::kFull) {
    shorter.prefix = WithoutLoops(0, shorter.prefix);
    if (!plan.good.empty()) {
      shorter.good = WithoutLoops(tree_.node(plan.good.front()).parent, shorter.good);
    }
  }
  shorter.prefix = WithSlips(StateMap::kRoot, plan.prefix, shorter.prefix, slips);
  if (good_slips > 0 && !plan.good.empty()) {
    const int begin = states_.Of(tree_.node(plan.good.front()).parent);
    shorter.good = WithSlips(begin, plan.good, shorter.good, good_slips);
  }
  return shorter;
}

std::vector<int> Pruner::WithoutIdle(const std::vector<int>& nodes) const {
  std::vector<int> kept;
  std::set<std::string_view> told;
  for (const int node : nodes) {
    const Node& turn = tree_.node(node);
    const bool tells = !states_.Refused(node) && family_.hints().MayInform(turn.action) &&
                       told.insert(turn.observation).second;
    if (states_.Changed(node) || tells) kept.push_back(node);
  }
  return kept;
}

std::vector<int> Pruner::WithoutLoops(int start, const std::vector<int>& nodes) {
  std::vector<int> kept;
  std::vector<int> all = {start};
  all.insert(all.end(), nodes.begin(), nodes.end());
  for (size_t at = 0; at < all.size();) {
    size_t last = at;
    const std::string& key = Key(all[at]);
    for (size_t i = at + 1; i < all.size() && !key.empty(); ++i) {
      if (Key(all[i]) == key) last = i;
    }
    // Removes the loop: the next step follows the beginning of the loop, in an equal state.
    at = last + 1;
    if (at < all.size()) kept.push_back(all[at]);
  }
  return kept;
}

std::vector<int> Pruner::WithSlips(int stands, const std::vector<int>& all,
                                   const std::vector<int>& kept, int slips) const {
  std::set<int> chosen(kept.begin(), kept.end());
  // A refused step can stay only if the shortened path still contains the state in which it was
  // made.
  std::vector<int> possible;
  for (const int node : all) {
    if (chosen.contains(node)) {
      stands = states_.Of(node);
    } else if (states_.Refused(node) && states_.Of(node) == stands) {
      possible.push_back(node);
    }
  }
  std::set<std::string_view> actions;
  for (auto node = possible.rbegin(); node != possible.rend() && slips > 0; ++node) {
    if (!actions.insert(tree_.node(*node).action).second) continue;
    chosen.insert(*node);
    --slips;
  }
  return {chosen.begin(), chosen.end()};
}

const std::string& Pruner::Key(int node) {
  const int state = states_.Of(node);
  const auto [key, is_new] = keys_.try_emplace(state);
  if (is_new) key->second = KeyOf(tree_, states_, family_, state);
  return key->second;
}

}  // namespace agentr
