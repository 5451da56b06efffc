#include "revision/find/paths.h"

namespace agentr {
namespace {

double QualityOf(const Node& leaf) {
  return leaf.visits > 0 ? leaf.value / leaf.visits : leaf.reward;
}

}  // namespace

std::vector<LeafPath> LeafPaths(const Tree& tree) {
  std::vector<LeafPath> paths;
  for (int i = 0; i < tree.size(); ++i) {
    const Node& node = tree.node(i);
    if (node.end != End::kNone && node.children.empty()) paths.push_back({i, QualityOf(node)});
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
