#include "revision/pairing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>

#include "common/error.h"

namespace agentr {
namespace {

// Of `pairs`, which have one bad path in common, those with the deepest ancestor.
void KeepDeepest(const Tree& tree, std::vector<PathPair>& pairs) {
  int deepest = 0;
  for (const PathPair& pair : pairs) deepest = std::max(deepest, tree.node(pair.ancestor).depth);
  std::erase_if(pairs, [&](const PathPair& p) { return tree.node(p.ancestor).depth < deepest; });
}

// Numbers paths so that those with the same actions have the same number.
class ActionKeys {
 public:
  explicit ActionKeys(const Tree& tree) : tree_(tree) {}

  int Of(int leaf) {
    if (leaf < 0) return -1;
    const auto [at, is_new] = by_leaf_.try_emplace(leaf, 0);
    if (is_new) {
      std::string actions;
      for (const int node : tree_.Path(leaf)) actions += tree_.node(node).action + '\n';
      at->second =
          by_actions_.try_emplace(actions, static_cast<int>(by_actions_.size())).first->second;
    }
    return at->second;
  }

 private:
  const Tree& tree_;
  std::map<int, int> by_leaf_;
  std::map<std::string, int> by_actions_;
};

}  // namespace

Pairing ParsePairing(std::string_view name) {
  if (name == "siblings") return Pairing::kSiblings;
  if (name == "all") return Pairing::kAll;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--pairing: \"{}\" is none of siblings and all", name));
}

std::vector<PathPair> PairPaths(const Tree& tree, const std::vector<LeafPath>& paths,
                                const ChoiceOptions& choice, Pairing pairing) {
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

std::vector<PathPair> GoodAlone(const std::vector<LeafPath>& paths, const ChoiceOptions& choice) {
  std::vector<PathPair> alone;
  for (const LeafPath& path : paths) {
    if (IsGood(path, choice)) alone.push_back({path, {}, path.leaf});
  }
  return alone;
}

std::vector<PathPair> LimitPairs(const Tree& tree, std::vector<PathPair> pairs, size_t most,
                                 RandomStream random) {
  if (most == 0 || pairs.size() <= most) return pairs;
  constexpr size_t kAspects = 3;
  std::vector<size_t> left(pairs.size());
  std::iota(left.begin(), left.end(), size_t{0});
  random.Shuffle(left);
  ActionKeys keys(tree);
  std::vector<std::array<int, kAspects>> aspects;
  for (const PathPair& pair : pairs) {
    aspects.push_back({keys.Of(pair.bad.leaf), pair.ancestor, keys.Of(pair.good.leaf)});
  }
  std::array<std::map<int, int>, kAspects> uses;
  const auto uses_of = [&](size_t index) {
    std::array<int, kAspects> counts{};
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
