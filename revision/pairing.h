// Pairs of a good and a bad path of one tree.
#pragma once

#include <string_view>
#include <vector>

#include "common/random.h"
#include "revision/choice.h"
#include "revision/paths.h"
#include "revision/states.h"

namespace agentr {

enum class Pairing {
  // A bad path with the good ones that it parts from last: where they part, two children of one
  // node, one goes on to success and the other never does. That is the paper's "correct path which
  // shares the same parent node".
  kSiblings,
  kAll,  // every good path with every path that is bad beside it, as the published code does
};

// "siblings" | "all"; throws FatalError(kUsage) for others.
Pairing ParsePairing(std::string_view name);

struct PathPair {
  LeafPath good;
  LeafPath bad;       // no path (leaf -1) where the good one stands alone
  int ancestor = -1;  // deepest common ancestor; the good leaf where it stands alone

  bool operator==(const PathPair&) const = default;
};

// In the order of the bad leaves, then of the good ones.
std::vector<PathPair> PairPaths(const Tree& tree, const std::vector<LeafPath>& paths,
                                const QualityThresholds& choice, Pairing pairing);

// Of `pairs` those that can be repaired: behind the state that both paths share, the bad one took a
// step that did not end the episode. Their ancestors become the first node of the bad path that
// stands in that state.
std::vector<PathPair> PartByState(const Tree& tree, const StateMap& states,
                                  std::vector<PathPair> pairs);

// Each good path on its own.
std::vector<PathPair> GoodAlone(const std::vector<LeafPath>& paths,
                                const QualityThresholds& choice);

// At most `most` of the pairs (all for 0), in their order. Chosen one by one for diversity: the
// next one is of those whose mistake (the actions up to the first step behind the ancestor) was
// chosen least often with their good path (by its actions), then whose mistake, good path, bad path
// was chosen least often; ties are broken by `random`.
std::vector<PathPair> LimitPairs(const Tree& tree, std::vector<PathPair> pairs, size_t most,
                                 RandomStream random);

}  // namespace agentr
