// Advantages of steps: the steps that the episodes of a group took in equal states are compared
// with each other. No further episodes are needed, because episodes of one task pass the same
// states often.
//
// GiGPO (Feng et al. 2025, arXiv 2505.10978, section 4.2) compares what followed: the return of a
// step whose episode ends with reward R after n more turns is gamma^n R. GraphGPO (arXiv
// 2605.26684) compares where steps lead: all states and steps of the group are a graph, and the
// return of a step is gamma^d R for the shortest way, of d steps of any episodes, from the state
// behind it to an end with reward R. So a step on the way to success counts in an episode that
// fails later, and a detour does not in one that succeeds. The authors' code of GiGPO divides by
// the deviation of a sample, where this divides by that of the population.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "common/named_values.h"
#include "mcts/tree.h"
#include "tasks/task_family.h"

namespace agentr {

// By what the steps of a state are compared.
enum class StepReturn { kEpisode, kGraph };
inline constexpr std::array<NamedValue<StepReturn>, 2> kStepReturns = {
    {{"episode", StepReturn::kEpisode}, {"graph", StepReturn::kGraph}}};

// For each node of each tree a text that is equal for equal states of the task after its turn: what
// the family says (RevisionHints::StateKey) or, where it knows none, the actions that changed
// something since the beginning (revision/find/states.h). Empty where the task has ended.
std::vector<std::vector<std::string>> StateKeys(const std::vector<const Tree*>& trees,
                                                const TaskFamily& family);

// The advantage of each node's response as a step. A step is a node in an episode, that is in the
// path to an ended leaf; a node of several episodes has the mean of its steps. The group of a step
// are all steps of all trees, which are of one task, whose parents have equal keys; `keys` by tree
// and node. A step's advantage is its return minus the group's mean, divided by their standard
// deviation with `divide_by_std`; 0 in a group with equal returns, such as a step alone. With
// kGraph the way to the best gamma^d R counts, and a step that leads to no reward has gamma times
// the least value of a state that does (for rewards of 0 and 1: it is one step farther than all of
// these).
std::vector<std::vector<double>> TreeStepAdvantages(
    const std::vector<const Tree*>& trees, const std::vector<std::vector<std::string>>& keys,
    double gamma, bool divide_by_std, StepReturn step_return = StepReturn::kEpisode);

}  // namespace agentr
