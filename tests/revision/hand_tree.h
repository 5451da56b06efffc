// Trees made by hand from their episodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "clients/environment.h"
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
// that of task 3 of the toy world, and the origin says "toy", `task_id`, "hand".
Tree HandTree(const std::vector<Ended>& episodes, int task_id = 3,
              const std::string& first_observation = "Goal 3.");

// A world that answers as these trees expect: "g" ends with 1, "over" with 0. For FakeEnvironment.
StepResult HandWorld(int task, const std::vector<std::string>& actions);

// The node at the end of these actions; -1 where there is none.
int At(const Tree& tree, const std::string& actions);

// The same tree, in which `change` was applied to every node but the root; their places, visits and
// values stay.
Tree Changed(const Tree& tree, const std::function<void(int index, Node&)>& change);

// The same tree, in which the environment refused the actions that begin with "stuck".
Tree WithRefusals(const Tree& plain);

// The same tree with another node `index`; its visits and its value stay.
Tree Changed(const Tree& tree, int index, const std::function<void(Node&)>& change);

// The same tree with token ids for every response, one per byte, and log-probabilities.
Tree WithTokens(const Tree& tree);

// The whole paths of the pair, spliced.
Trajectory HandSplice(const Tree& tree, const PathPair& pair, int bad_steps,
                      const RevisionTurn& revision);

// "=p -a ~wait ^up +g": part and action of each turn.
std::string Outline(const Trajectory& trajectory);

// The row of the pair, with a revision turn "Oh.".
RowDraft HandRow(const RowSource& source, const PathPair& pair, const FirstError& error,
                 const Replay& replay = {});

}  // namespace agentr
