// SciWorld (ScienceWorld, Wang et al. 2022) as AgentGym serves it: a text game of elementary
// science experiments in a house.
#pragma once

#include "tasks/revision_hints.h"
#include "tasks/task_family.h"

namespace agentr {

class SciWorldFamily : public TaskFamily, public RevisionHints {
 public:
  std::string_view name() const override { return "sciworld"; }
  const RevisionHints& hints() const override { return *this; }

  // True for input that the game does not understand and for actions that only give information:
  // they take no game time. While the game waits for a number ("Ambiguous request"), any input is
  // an answer and may change the state.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  // True for input that the game does not understand, and for actions that it says are impossible,
  // although the latter take game time.
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  // A quarter more turns than the simulator's own solution for the task's type, and at least 20.
  int SearchDepth(int task_id) const override;
  // "task": "wait" lets ten ticks of time pass here.
  std::string_view RevisionAction() const override { return "task"; }
  // True for the actions that alone show what is in a room or in the inventory.
  bool MayInform(std::string_view action) const override;
  std::string StateKey(std::span<const Message> history) const override;  // SciWorldStateKey
  // The degrees that a thermometer measures.
  Readings WithoutReadings(std::string_view observation) const override;
  // not_understood | not_possible, ambiguous, wrong_focus, dead_end.
  std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                               std::string_view after) const override;
  // Answers to the game's question; taking the last actions back; the ways to other rooms; what the
  // next good actions need, such as an open container.
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;
};

// True for inventory, look around and task, which never change anything.
bool OnlyTells(std::string_view sciworld_action);

// True for a reply that says that the game did not understand the action.
bool NotUnderstood(std::string_view sciworld_reply);

// True for a reply that says that the action, understood, cannot be done: the door is already open,
// the oven is not moveable.
bool IsNotPossible(std::string_view sciworld_reply);

// True for a reply that waits for a number.
bool IsAmbiguous(std::string_view sciworld_reply);

// True for the command that the game answers without taking it for an answer to its question, so
// that it goes on waiting for a number.
bool LeavesQuestionOpen(std::string_view sciworld_action);

// The action trimmed and in lower case, as the game compares actions.
std::string SciWorldKey(std::string_view action);

}  // namespace agentr
