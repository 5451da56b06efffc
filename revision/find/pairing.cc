#include "revision/find/pairing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "common/error.h"

namespace agentr {
namespace {

// Those of `pairs`, which share one bad path, with the deepest ancestor.
void KeepDeepest(const Tree& tree, std::vector<PathPair>& pairs) {
  int deepest = 0;
  for (const PathPair& pair : pairs) deepest = std::max(deepest, tree.node(pair.ancestor).depth);
  std::erase_if(pairs, [&](const PathPair& p) { return tree.node(p.ancestor).depth < deepest; });
}

// Numbers texts in the order of their first occurrence.
class Numbering {
 public:
  int Of(const std::string& text) {
    return by_text_.try_emplace(text, static_cast<int>(by_text_.size())).first->second;
  }

 private:
  std::map<std::string, int> by_text_;
};

// The first `turns` actions on the way to `leaf`.
std::string ActionsTo(const Tree& tree, int leaf, int turns) {
  std::string actions;
  for (const int node : tree.Path(leaf)) {
    if (tree.node(node).depth <= turns) actions += tree.node(node).action + '\n';
  }
  return actions;
}

// The features by which pairs are similar, the most important first: the same mistake with the same
// good path, the same mistake, the same good path, the same bad path.
constexpr size_t kAspects = 4;
using Aspects = std::array<int, kAspects>;

Aspects AspectsOf(const Tree& tree, const PathPair& pair,
                  std::array<Numbering, kAspects>& numbers) {
  const auto all = std::numeric_limits<int>::max();
  const std::string good = ActionsTo(tree, pair.good.leaf, all);
  std::string mistake;
  std::string bad;
  if (pair.bad.leaf >= 0) {
    mistake = ActionsTo(tree, pair.bad.leaf, tree.node(pair.ancestor).depth + 1);
    bad = ActionsTo(tree, pair.bad.leaf, all);
  }
  return {numbers[0].Of(mistake + '\n' + good), numbers[1].Of(mistake), numbers[2].Of(good),
          numbers[3].Of(bad)};
}

}  // namespace

std::vector<PathPair> PairPaths(const Tree& tree, const std::vector<LeafPath>& paths,
                                const ValueThresholds& choice, Pairing pairing) {
  std::vector<LeafPath> good;
  std::ranges::copy_if(paths, std::back_inserter(good),
                       [&](const LeafPath& path) { return IsGood(path, choice); });
  std::vector<PathPair> pairs;
  for (const LeafPath& bad : paths) {
    std::vector<PathPair> of_bad;
    for (const LeafPath& partner : good) {
      if (!IsBadBeside(bad, partner, choice)) continue;
      of_bad.push_back({partner, bad, DeepestCommonAncestor(tree, partner.leaf, bad.leaf)});
    }
    if (pairing == Pairing::kSiblings) KeepDeepest(tree, of_bad);
    pairs.insert(pairs.end(), of_bad.begin(), of_bad.end());
  }
  return pairs;
}

std::vector<PathPair> PartByState(const Tree& tree, const StateMap& states,
                                  std::vector<PathPair> pairs) {
  std::vector<PathPair> repairable;
  for (PathPair& pair : pairs) {
    const int parting = states.Common(states.Of(pair.good.leaf), states.Of(pair.bad.leaf));
    const std::vector<int> bad = tree.Path(pair.bad.leaf);
    const auto in_common = [&](int node) { return states.Of(node) == parting; };
    pair.ancestor = *std::ranges::find_if(bad, in_common);
    const Node& leaf = tree.node(pair.bad.leaf);
    const int over = leaf.end == End::kDone || leaf.end == End::kDisaster ? 1 : 0;
    if (leaf.depth - over <= tree.node(pair.ancestor).depth) continue;
    if (states.Of(pair.good.leaf) != parting) repairable.push_back(pair);
  }
  return repairable;
}

std::vector<PathPair> GoodAlone(const std::vector<LeafPath>& paths, const ValueThresholds& choice) {
  std::vector<PathPair> alone;
  for (const LeafPath& path : paths) {
    if (IsGood(path, choice)) alone.push_back({path, {}, path.leaf});
  }
  return alone;
}

std::vector<PathPair> LimitPairs(const Tree& tree, std::vector<PathPair> pairs, size_t most,
                                 RandomStream random) {
  if (most == 0 || pairs.size() <= most) return pairs;
  std::vector<size_t> left(pairs.size());
  std::iota(left.begin(), left.end(), size_t{0});
  random.Shuffle(left);
  std::array<Numbering, kAspects> numbers;
  std::vector<Aspects> aspects;
  for (const PathPair& pair : pairs) aspects.push_back(AspectsOf(tree, pair, numbers));
  std::array<std::map<int, int>, kAspects> uses;
  const auto uses_of = [&](size_t index) {
    Aspects counts{};
    for (size_t a = 0; a < kAspects; ++a) counts[a] = uses[a][aspects[index][a]];
    return counts;
  };
  std::vector<size_t> chosen;
  while (chosen.size() < most) {
    const auto next = std::ranges::min_element(left, {}, uses_of);
    for (size_t a = 0; a < kAspects; ++a) ++uses[a][aspects[*next][a]];
    chosen.push_back(*next);
    left.erase(next);
  }
  std::ranges::sort(chosen);
  std::vector<PathPair> limited;
  for (const size_t index : chosen) limited.push_back(pairs[index]);
  return limited;
}

}  // namespace agentr
