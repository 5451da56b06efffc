// Steps of a search tree of which the tree proves whether they were right: labels for a model that
// judges steps, or for a process reward model.
#pragma once

#include <string>
#include <vector>

#include "common/random.h"
#include "mcts/tree.h"
#include "revision/find/mistakes.h"
#include "revision/find/states.h"
#include "tasks/task_family.h"

namespace agentr {

struct StepLabel {
  int node = -1;
  bool good = false;
  std::string mistake;  // the name of a bad one's
  int evidence = 0;     // ended paths behind a bad one, none of them as good (Mistake::evidence)
};

// Bad are the accepted steps that FindMistakes finds. Good are those on a shortest way from
// the beginning to a success (TaskFamily::SuccessReward) of which the tree knows, counted over
// equal states. To be on a good path is not enough: in WebShop two of five such steps bring the
// goal no nearer. Refused steps have no label, since the environment judges them, and neither have
// those that ended the episode, since their observation tells the reward. Each step from one state
// to another once, in the order of the nodes.
std::vector<StepLabel> LabelSteps(const Tree& tree, const StateMap& states,
                                  const TaskFamily& family, const MistakeOptions& options);

// As many good as bad ones, drawn at random, at most `most` together (0: no limit), in their order.
std::vector<StepLabel> Balanced(std::vector<StepLabel> labels, int most, RandomStream random);

}  // namespace agentr
