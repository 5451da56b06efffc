// Trees made by hand from their episodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mcts/tree.h"
#include "revision/make/splice.h"
#include "revision/row_draft.h"

namespace agentr {

// One ended path: its actions, and the reward at its end.
struct Ended {
  std::string actions;  // "a b c"
  double reward = 0;
  End end = End::kDone;
};

// The tree of these episodes; those that begin alike share nodes. After actions "a b" the
// observation is "saw a b", and the response to it "Thought: I go on.\nAction: c". The first one is
// "Goal 3.", as in task 3 of the toy world, and the origin says "toy", 3, "hand".
Tree HandTree(const std::vector<Ended>& episodes);

// The node at the end of these actions; -1 where there is none.
int At(const Tree& tree, const std::string& actions);

// The same tree, in which the environment refused the actions that begin with "stuck".
Tree WithRefusals(const Tree& plain);

// The same tree with another node `index`; its visits and its value stay.
Tree Changed(const Tree& tree, int index, const std::function<void(Node&)>& change);

// The same tree with token ids for every response, one per byte, and log-probabilities.
Tree WithTokens(const Tree& tree);

// The whole paths of the pair, spliced.
Trajectory HandSplice(const Tree& tree, const PathPair& pair, int bad_steps,
                      const RevisionTurn& revision);

// The row of the pair, with a revision turn "Oh.".
RowDraft HandRow(const RowSource& source, const PathPair& pair, const FirstError& error,
                 const Replay& replay = {});

}  // namespace agentr
