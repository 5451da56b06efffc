// Which child to descend into: pure functions over the tree.
//
// The score is UCB1 (Auer, Cesa-Bianchi, Fischer 2002), which Agent-R calls puct:
//   Q + c * sqrt(ln N_parent / N_child),  Q = value / visits.
#pragma once

#include "common/random.h"
#include "mcts/tree.h"

namespace agentr {

// The score of a child; infinite for an unvisited one.
double SelectionScore(double value, int visits, int parent_visits, double c);

// The non-terminal child of `parent` with the highest score, equal scores drawn from `random`; -1
// when all children are terminal or there are none. Draws only when there is a tie.
int SelectChild(const Tree& tree, int parent, double c, RandomStream& random);

}  // namespace agentr
