// Selects the child into which the search descends: pure functions of the tree.
//
// The score is UCB1 (Auer, Cesa-Bianchi, Fischer 2002), which Agent-R calls puct:
//   Q + c * sqrt(ln N_parent / N_child),  Q = value / visits.
#pragma once

#include "common/random.h"
#include "mcts/tree.h"

namespace agentr {

// The score of a child; infinite for an unvisited one.
double SelectionScore(double value, int visits, int parent_visits, double c);

// The non-terminal child of `parent` with the highest score; a tie is broken by a draw from
// `random`, which is used only then. -1 if there is no non-terminal child.
int SelectChild(const Tree& tree, int parent, double c, RandomStream& random);

}  // namespace agentr
