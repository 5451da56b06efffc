// Advantages of steps: GiGPO (Feng et al. 2025, arXiv 2505.10978, section 4.2).
//
// The steps that the episodes of a group took in equal states are compared with each other by what
// followed: the discounted return of a step whose episode ends with reward R after n more turns is
// gamma^n R. No further episodes are needed, because episodes of one task pass the same states
// often.
#pragma once

#include <string>
#include <vector>

#include "mcts/tree.h"
#include "tasks/task_family.h"

namespace agentr {

// For each node of each tree a text that is equal for equal states of the task after its turn: what
// the family says (RevisionHints::StateKey) or, where it knows none, the actions that changed
// something since the beginning (revision/find/states.h).
std::vector<std::vector<std::string>> StateKeys(const std::vector<const Tree*>& trees,
                                                const TaskFamily& family);

// The advantage of each node's response as a step. A step is a node in an episode, that is in the
// path to an ended leaf; a node of several episodes has the mean of its steps. The group of a step are
// all steps of all trees, which are of one task, whose parents have equal keys; `keys` by tree and
// node. A step's advantage is its return minus the group's mean, divided by their standard deviation
// with `divide_by_std`; 0 in a group with equal returns, such as a step alone.
std::vector<std::vector<double>> TreeStepAdvantages(
    const std::vector<const Tree*>& trees, const std::vector<std::vector<std::string>>& keys,
    double gamma, bool divide_by_std);

}  // namespace agentr
