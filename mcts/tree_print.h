#pragma once

#include <string>

#include "mcts/tree.h"

namespace agentr {

class OptionSet;

struct TreePrintOptions {
  int levels = 0;              // deepest level shown; 0: all
  int width = 100;             // columns; longer lines are cut with an ellipsis
  bool responses = false;      // the model's whole responses too
  bool rewarded = false;       // only paths that lead to a reward above 0
  std::string color = "auto";  // auto (on a terminal) | always | never
};

void Declare(OptionSet& set, TreePrintOptions& options);

// The tree as indented text, a line per node: visits and mean value, how a leaf ended and its
// reward, action and observation.
std::string PrintTree(const Tree& tree, const TreePrintOptions& options);

}  // namespace agentr
