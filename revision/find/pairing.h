// Makes pairs of a good and a bad path of one tree.
#pragma once

#include <array>
#include <vector>

#include "common/named_values.h"
#include "common/random.h"
#include "revision/find/choice.h"
#include "revision/find/paths.h"
#include "revision/find/states.h"

namespace agentr {

enum class Pairing {
  // A bad path with the good paths that share the most of it: at the node where they part, one
  // child leads to success and the other never does. This is the paper's "correct path which shares
  // the same parent node".
  kSiblings,
  kAll,  // every good path with every path that is bad compared with it, as in the published code
};

inline constexpr std::array<NamedValue<Pairing>, 2> kPairings = {
    {{"siblings", Pairing::kSiblings}, {"all", Pairing::kAll}}};

struct PathPair {
  LeafPath good;
  LeafPath bad;       // no path (leaf -1) if the good one is used alone
  int ancestor = -1;  // deepest common ancestor; the good leaf if it is used alone

  bool operator==(const PathPair&) const = default;
};

// The pairs in the order of the bad leaves, then of the good ones.
std::vector<PathPair> PairPaths(const Tree& tree, const std::vector<LeafPath>& paths,
                                const ValueThresholds& choice, Pairing pairing);

// Those of `pairs` that can be repaired: after the last state that both paths share, the bad one
// took a step that did not end the episode. Their ancestor becomes the first node of the bad path
// in that state.
std::vector<PathPair> PartByState(const Tree& tree, const StateMap& states,
                                  std::vector<PathPair> pairs);

// Each good path alone.
std::vector<PathPair> GoodAlone(const std::vector<LeafPath>& paths, const ValueThresholds& choice);

// At most `most` of the pairs (0: all), in their order. They are chosen one by one for diversity:
// first by how rarely the mistake (the actions up to the first step after the ancestor) was chosen
// with the same good path (its actions), then by how rarely the mistake, the good path and the bad
// path were chosen. `random` breaks ties.
std::vector<PathPair> LimitPairs(const Tree& tree, std::vector<PathPair> pairs, size_t most,
                                 RandomStream random);

}  // namespace agentr
