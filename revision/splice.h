// The spliced trajectory: shared prefix, bad steps up to the first error, the turn in which the
// agent owns the mistake, recovery, and the good path from the common state on (Agent-R,
// arXiv 2501.11425, section 3.2; the recovery is ours).
//
// Trained is what the loss of the paper names: log pi(revision turn, good suffix | instruction, bad
// path so far). The prefix and the bad steps are context only, and so is the assistant's turn of
// the instruction, which the policy never said. A step that changed nothing is never trained.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "mcts/tree.h"
#include "revision/pairing.h"
#include "revision/states.h"

namespace agentr {

enum class Part { kPrefix, kBad, kRevision, kRecovery, kGood };

struct SplicedTurn {
  Part part = Part::kPrefix;
  int node = -1;  // of the tree; -1 for the revision turn and recoveries
  std::string response;
  std::string action;
  std::string observation;
  bool refused = false;  // by the environment

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
  size_t dropped_turns = 0;   // oldest turns that are not shown (FitContext)
  bool train_prefix = false;  // the steps of the prefix are trained too
};

// Whether the turn is trained.
bool IsTrained(const Trajectory& trajectory, const SplicedTurn& turn);

// A message of a row; `turn` is the index of its turn, -1 before the first one.
struct RowMessage {
  std::string role;
  const std::string* content = nullptr;
  bool trained = false;
  int turn = -1;
};

// Which nodes a trajectory is made of.
struct SplicePlan {
  std::vector<int> prefix;
  std::vector<int> bad;  // the last one is the first error, or a step behind it
  std::vector<int> good;
};

// The whole paths of the pair: the bad one with `bad_steps` steps behind its ancestor, the good one
// from where it first stood in the ancestor's state. A good path that stands alone is all `good`.
SplicePlan PlanOf(const Tree& tree, const StateMap& states, const PathPair& pair, int bad_steps);

// Without a revision turn where there are no bad steps.
Trajectory Splice(const Tree& tree, const StateMap& states, const SplicePlan& plan,
                  const RevisionTurn& revision);

// The conversation that is shown, into the strings of `trajectory`. It ends with the last turn of
// the agent: what that was answered teaches nothing.
std::vector<RowMessage> RowMessages(const Trajectory& trajectory);

// Tokens of one message: the estimate of LanguageModel::CountTokens for models that do not tell.
int64_t EstimateTokens(const std::string& content);

// Leaves out at least `dropped_turns` turns of the prefix (of a good path alone: of its oldest
// turns), and as many more as it takes to fit into `max_tokens` (0: no limit; EstimateTokens). Bad
// steps and what follows always stay, and the last turn of a good path: false where they do not
// fit.
bool FitContext(Trajectory& trajectory, int dropped_turns, int64_t max_tokens);

}  // namespace agentr
