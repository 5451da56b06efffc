#pragma once

#include <string>

#include "mcts/tree.h"

namespace agentr {

class OptionSet;

struct TreePrintOptions {
  int levels = 0;              // deepest level to show; 0: all
  int width = 100;             // columns; longer lines are cut with an ellipsis
  bool responses = false;      // also show the model's whole responses
  bool rewarded = false;       // only paths that lead to a reward above 0
  std::string color = "auto";  // auto (on a terminal) | always | never
};

void Declare(OptionSet& set, TreePrintOptions& options);

// How a leaf ended, with its reward and a blank: "[done 1] "; empty for inner nodes.
std::string EndingText(const Node& node);

// The tree as indented text with one line per node: visits and mean value, a leaf's end and reward,
// action and observation.
std::string PrintTree(const Tree& tree, const TreePrintOptions& options);

}  // namespace agentr
