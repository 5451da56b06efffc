// The spliced trajectory: shared prefix, bad steps up to the first error, the turn in which the
// agent owns the mistake, and the good path from the common ancestor on (Agent-R, arXiv 2501.11425,
// section 3.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "mcts/tree.h"
#include "revision/pairing.h"

namespace agentr {

enum class Part { kPrefix, kBad, kRevision, kGood };

struct SplicedTurn {
  Part part = Part::kPrefix;
  int node = -1;  // of the tree; -1 for the revision turn
  std::string response;
  std::string action;
  std::string observation;
};

struct RevisionTurn {
  std::string thought;
  std::string action = "wait";
  std::string reply = "ok.";
};

struct Trajectory {
  std::vector<Message> instruction;
  std::string first_observation;
  std::vector<SplicedTurn> turns;
  size_t dropped_turns = 0;  // oldest turns of the prefix that are not shown (FitContext)
};

// A message of a row; `turn` is the index of its turn, -1 before the first one.
struct RowMessage {
  std::string role;
  const std::string* content = nullptr;
  bool trained = false;  // only assistant messages are, all but those of bad steps
  int turn = -1;
};

// With `bad_steps` steps of the bad path. A good path that stands alone is all prefix.
Trajectory Splice(const Tree& tree, const PathPair& pair, int bad_steps,
                  const RevisionTurn& revision);

// The conversation that is shown, into the strings of `trajectory`.
std::vector<RowMessage> RowMessages(const Trajectory& trajectory);

// Tokens of one message: the estimate of LanguageModel::CountTokens for models that do not tell.
int64_t EstimateTokens(const std::string& content);

// Leaves out at least `dropped_turns` turns of the prefix, and as many more as it takes to fit into
// `max_tokens` (0: no limit; EstimateTokens). Bad steps and what follows always stay, and the last
// turn of a good path: false where they do not fit.
bool FitContext(Trajectory& trajectory, int dropped_turns, int64_t max_tokens);

}  // namespace agentr
