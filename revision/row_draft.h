// One row of training data before it is written in some format.
#pragma once

#include <cstdint>
#include <string>

#include "mcts/tree.h"
#include "revision/find/choice.h"
#include "revision/make/task_record.h"

namespace agentr {

// splice.h describes what rows of this version train. Files of version 1, without a "version" in
// their provenance, trained shared prefixes and refused actions.
constexpr int kRowVersion = 2;

// The origin of a row; the same for all rows of a tree.
struct RowSource {
  const Tree& tree;
  std::string file;    // the tree's file
  std::string family;  // stored here because an Agent-R tree does not contain it
  int task_id = 0;
  std::string model;
  uint64_t seed = 0;
  ValueThresholds choice;
  std::string verifier;
  std::string_view pairing;
  std::string_view prune = "";
};

struct Row {
  const RowSource& source;
  Decision decision;
  Trajectory trajectory;  // as replayed and truncated to the context
  std::string hash;       // ContentHash
};

}  // namespace agentr
