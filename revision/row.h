// One row of training data before it is written in some format.
#pragma once

#include <cstdint>
#include <string>

#include "mcts/tree.h"
#include "revision/choice.h"
#include "revision/first_error.h"
#include "revision/pairing.h"
#include "revision/replay.h"
#include "revision/splice.h"

namespace agentr {

// Where a row comes from; the same for all rows of a tree.
struct RowSource {
  const Tree& tree;
  std::string file;    // of the tree
  std::string family;  // an Agent-R tree does not tell its own
  int task = 0;
  std::string model;
  uint64_t seed = 0;
  QualityThresholds choice;
  std::string verifier;
  std::string pairing;
};

struct Row {
  const RowSource& source;
  PathPair pair;
  FirstError error;
  Replay replay;
  Trajectory trajectory;  // as replayed and cut to the context
  std::string hash;       // ContentHash
};

}  // namespace agentr
