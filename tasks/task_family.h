// The properties of one kind of task (TextCraft, WebShop, …), as data and pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

class RevisionHints;

class TaskFamily {
 public:
  virtual ~TaskFamily() = default;

  // "textcraft": the name on the command line, in folders and in files.
  virtual std::string_view name() const = 0;

  // The turns before the first observation: the instruction and the assistant's "Ok.". By default
  // those of configs/prompts.
  virtual std::vector<Message> Instruction() const;

  // The action inside a response, in the form that the environment takes: the text after the last
  // "Action:" or "Action 1:" without a leading "1. ", else the last line. By default only its first
  // line.
  virtual std::string ParseAction(std::string_view response) const;

  // True only if it is certain that `action` did not change the state. `before` is the observation
  // with which the state was entered, `after` the reply to the action, both as the agent sees them:
  // on one line, but the first observation of a task as the environment gave it. Property tests
  // check this against the servers. By default nothing is certain.
  virtual bool LeavesStateUnchanged(std::string_view /*before*/, std::string_view /*action*/,
                                    std::string_view /*after*/) const {
    return false;
  }

  // True if the environment refused `action` because it is malformed or impossible in that state
  // (an invalid action). The arguments are those of LeavesStateUnchanged.
  virtual bool IsRefusal(std::string_view before, std::string_view action,
                         std::string_view after) const = 0;

  // Whether each of `actions` will probably leave the state unchanged after `history` (the first
  // observation and the later turns that changed something). This is a hint for the order of
  // execution; a wrong one only costs calls. By default none will.
  virtual std::vector<bool> LikelyUnchanged(std::span<const Message> /*history*/,
                                            std::span<const std::string> actions) const {
    return std::vector<bool>(actions.size(), false);
  }

  // Turns after which a search of `task_id` ends a path: enough for a policy that goes straight for
  // the goal but sometimes makes a mistake.
  virtual int SearchDepth(int /*task*/) const { return 20; }

  // The least reward of an episode that reached its goal.
  virtual double SuccessReward() const { return 1; }

  // The action of the turn in which the agent notices a mistake. It must leave the state unchanged:
  // an action that the environment refuses, or one that only gives information.
  virtual std::string_view RevisionAction() const { return "wait"; }

  // What the agent is told after that action, instead of the environment's own reply, which may
  // be a refusal: in the search, in rows and in evaluations alike (Agent-R's rows).
  static constexpr std::string_view kRevisionReply = "ok.";

  // True for a turn of a tree in which the agent noticed a mistake.
  bool IsRevision(std::string_view action, std::string_view observation) const {
    return action == RevisionAction() && observation == kRevisionReply;
  }

  // What the revision of failed paths asks (tasks/revision_hints.h); by default it knows nothing.
  virtual const RevisionHints& hints() const;
};

}  // namespace agentr
