// One row of training data as it is made, from its decision to what is written (rows/row_format.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clients/chat_encoder.h"
#include "mcts/tree.h"
#include "revision/find/choice.h"
#include "revision/make/task_record.h"
#include "rows/row_format.h"

namespace agentr {

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
  int repeats = 0;  // the most of CorrectionOf, drawn evenly
};

struct RowDraft {
  const RowSource& source;
  Decision decision;
  Trajectory trajectory;  // as replayed and truncated to the context
  std::string hash;       // ContentHash
};

// RowMessages with the tokens that the model sampled in the search. They point into `row`.
std::vector<RowMessage> MessagesOf(const RowDraft& row);

NewRow RowOf(const RowDraft& row);

// Like FitContext, but with the exact length in tokens (EncodeRow). Without an encoder, and for an
// order of roles that the model's format cannot express, the length is estimated. Leaves out as few
// turns as possible; false if even the turns that must stay do not fit into `max_tokens` (0:
// unlimited).
bool FitRow(RowDraft& row, int dropped_turns, int64_t max_tokens, const ChatEncoder* encoder);

}  // namespace agentr
