#include "mcts/selection.h"

#include <cmath>
#include <limits>

namespace agentr {

double SelectionScore(double value, int visits, int parent_visits, double c) {
  if (visits == 0) return std::numeric_limits<double>::infinity();
  const double n = visits;
  return value / n + c * std::sqrt(std::log(static_cast<double>(parent_visits)) / n);
}

int SelectChild(const Tree& tree, int parent, double c, RandomStream& random) {
  const Node& node = tree.node(parent);
  double best_score = -std::numeric_limits<double>::infinity();
  std::vector<int> best;
  for (const int child : node.children) {
    const Node& candidate = tree.node(child);
    if (candidate.terminal) continue;
    const double score = SelectionScore(candidate.value, candidate.visits, node.visits, c);
    if (score > best_score) best.clear();
    if (score >= best_score) best.push_back(child);
    best_score = std::max(score, best_score);
  }
  if (best.empty()) return -1;
  return best.size() == 1 ? best.front() : random.Pick(best);
}

}  // namespace agentr
