// The episodes of a search tree: their ends and their values (Agent-R, arXiv 2501.11425, section
// 3.2).
#pragma once

#include <vector>

#include "mcts/tree.h"

namespace agentr {

// The path from the root to an ended leaf.
struct LeafPath {
  int leaf = -1;     // node index; -1: no path
  double value = 0;  // the leaf's average value, in [0, 1]; its reward if it has no visits

  bool operator==(const LeafPath&) const = default;
};

// One path for each ended leaf, in the order of the nodes. A disaster counts with value 0.
std::vector<LeafPath> LeafPaths(const Tree& tree);

// The last node that the paths to `a` and `b` share.
int DeepestCommonAncestor(const Tree& tree, int a, int b);

}  // namespace agentr
