// SciWorld (ScienceWorld, Wang et al. 2022): elementary science experiments in a house, as a text
// game, as AgentGym serves it.
#pragma once

#include "tasks/task_family.h"

namespace agentr {

class SciWorldFamily : public TaskFamily {
 public:
  std::string_view name() const override { return "sciworld"; }
  std::vector<Message> Instruction() const override;  // configs/prompts/sciworld.txt

  // The first line of the action's text. The game does not mind upper case.
  std::string ParseAction(std::string_view response) const override;

  // What the game does not understand, and the actions that only tell: they take no time in it. But
  // while it waits for the number of what was meant ("Ambiguous request"), any input is an answer.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  // What the game does not understand, and what it says cannot be done, though time goes by with
  // the latter.
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  // By the type of the task, from the length of the simulator's own solution: a quarter more, and
  // at least 20.
  int SearchDepth(int task_id) const override;
  // "task": "wait" lets ten ticks of time pass here.
  std::string_view RevisionAction() const override { return "task"; }
  // What is in a room or in the hand is told by these alone.
  bool MayInform(std::string_view action) const override;
  // not_understood | not_possible, ambiguous, wrong_focus, dead_end.
  std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                               std::string_view after) const override;
  // Back to the room that was left, and an answer to a question of the game.
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

// Trimmed and in lower case, in which the game compares actions.
std::string SciWorldKey(std::string_view action);

}  // namespace agentr
