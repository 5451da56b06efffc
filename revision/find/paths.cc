#include "revision/find/paths.h"

namespace agentr {

std::vector<LeafPath> LeafPaths(const Tree& tree) {
  std::vector<LeafPath> paths;
  for (int i = 0; i < tree.size(); ++i) {
    const Node& node = tree.node(i);
    if (node.end == End::kNone || !node.children.empty()) continue;
    paths.push_back({i, node.visits > 0 ? node.mean() : node.reward});
  }
  return paths;
}

int DeepestCommonAncestor(const Tree& tree, int a, int b) {
  while (a != b) {
    // Parents precede their children, so the later node is never an ancestor of the other one.
    int& later = a > b ? a : b;
    later = tree.node(later).parent;
  }
  return a;
}

}  // namespace agentr
