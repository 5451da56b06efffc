// The spliced trajectory: shared prefix, bad steps up to the first error, the turn in which the
// agent admits the mistake, recovery, and the good path from the common state on (Agent-R, arXiv
// 2501.11425, section 3.2; the recovery is our addition).
//
// The trained part is that of the paper's loss: log pi(revision turn, good suffix | instruction,
// bad path so far). The prefix and the bad steps are only context, and so is the assistant's turn
// of the instruction, which the policy did not write. A step that changed nothing is never trained,
// and neither is one that the agent did not say (mcts_collect --slip).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "mcts/tree.h"
#include "revision/find/states.h"
#include "rows/row.h"

namespace agentr {

struct PathPair;

enum class Part { kPrefix, kBad, kRevision, kRecovery, kGood };

struct SplicedTurn {
  Part part = Part::kPrefix;
  int node = -1;  // node of the tree; -1 for the revision turn and recoveries
  std::string response;
  std::string action;
  std::string observation;
  bool refused = false;        // by the environment
  std::string reasoning = {};  // the thought that is kept apart from `response`
  bool slipped = false;        // something else was done there than the agent said (Node::slip)
  // What it says of the mistake first, in place of the revision turn; empty: nothing.
  std::optional<std::string> admits = {};
  bool contradicts = false;  // its thought contradicts what the row shows (MendThoughts)

  bool operator==(const SplicedTurn&) const = default;
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
  size_t dropped_turns = 0;   // oldest turns that are left out (FitContext)
  bool train_prefix = false;  // also train the steps of the prefix
};

// True if the turn is trained.
bool IsTrained(const Trajectory& trajectory, const SplicedTurn& turn);

// The nodes of which a trajectory consists.
struct SplicePlan {
  std::vector<int> prefix;
  std::vector<int> bad;  // the last one is the first error or a later step
  std::vector<int> good;
};

// The complete paths of the pair: the bad one with `bad_steps` steps after the ancestor, and the
// good one from its first node in the ancestor's state. A good path alone is entirely `good`.
SplicePlan PlanOf(const Tree& tree, const StateMap& states, const PathPair& pair, int bad_steps);

// There is no revision turn if there are no bad steps.
Trajectory Splice(const Tree& tree, const StateMap& states, const SplicePlan& plan,
                  const RevisionTurn& revision);

// The messages of the row, which point to the strings of `trajectory`. The last one is the agent's
// last turn, because the answer to it is not needed for training.
std::vector<RowMessage> RowMessages(const Trajectory& trajectory);

// An estimate of the tokens of one message, as in clients/language_model.h.
int64_t EstimateTokens(const std::string& content, const std::string& reasoning = "");

// Leaves out at least `dropped_turns` turns of the prefix (for a good path alone, of its oldest
// turns), and as many more as needed to fit into `max_tokens` (0: unlimited; EstimateTokens). Bad
// steps and later turns always stay, and so does the last turn of a good path; false if they do not
// fit.
bool FitContext(Trajectory& trajectory, int dropped_turns, int64_t max_tokens);

}  // namespace agentr
