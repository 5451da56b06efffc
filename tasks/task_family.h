// What is particular to a kind of task (TextCraft, WebShop, …), as data and pure functions.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

class TaskFamily {
 public:
  virtual ~TaskFamily() = default;

  // "textcraft": the name on the command line, in folders and in files.
  virtual std::string_view name() const = 0;

  // The turns before the first observation: the instruction and the assistant's "Ok.".
  virtual std::vector<Message> Instruction() const = 0;

  // The action inside a response. The text after the last "Action:" ("Action 1:" too) with a
  // leading "1. " stripped, else the last line; then in the form that the environment takes.
  virtual std::string ParseAction(std::string_view response) const = 0;

  // True only if it is certain that `action` left the state as it was, so that the session still
  // stands where it stood. `before` is the observation with which the state was entered, `after`
  // the reply to the action, both as the environment gave them. Checked against the servers by
  // property tests.
  virtual bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                                    std::string_view after) const = 0;

  // True if the environment did not take `action`: it has not the form of one, or cannot be done
  // there (an invalid action). Arguments as of LeavesStateUnchanged.
  virtual bool IsRefusal(std::string_view before, std::string_view action,
                         std::string_view after) const = 0;

  // Whether each of `actions` will probably leave the state unchanged, after `history` (the first
  // observation and the turns since then that changed something): a hint for the order of
  // execution, where a wrong one costs calls, nothing else.
  virtual std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                            std::span<const std::string> actions) const = 0;

  // Turns after which a search of `task_id` ends a path: enough for a policy that takes the straight way and errs
  // at times.
  virtual int SearchDepth(int /*task*/) const { return 20; }

  // The action of the turn in which the agent notices a mistake. It must leave the state as it was:
  // what the environment does not take, or what only tells.
  virtual std::string_view RevisionAction() const { return "wait"; }

  // What follows serves the revision of failed paths. `history` begins with the first observation;
  // all turns since then follow.

  // True if an action that leaves the state unchanged may still tell what the history does not: a
  // look around a room. Where everything is told by the replies to the other actions it is false.
  virtual bool MayInform(std::string_view /*action*/) const { return false; }

  // A text that is equal for histories that probably lead to the same state of a task, and differs
  // for those that do not; empty where nothing can be said. A hint: who relies on it must check.
  virtual std::string StateKey(std::span<const Message> /*history*/) const { return ""; }

  // What was wrong with a mistaken `action` after `history`, answered by `after`, as a short name
  // such as "missing_item": by it the revision thoughts are chosen and the mistakes are counted.
  virtual std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                                       std::string_view after) const;

  // Actions that may lead from where `history` stands to where `wanted`, the actions meant to come
  // next, can be taken: the way back, the material that is missing. The most promising come first.
  virtual std::vector<std::string> Recoveries(std::span<const Message> /*history*/,
                                              std::span<const std::string> /*wanted*/) const {
    return {};
  }
};

// The text after the last "Action:" of a response (see TaskFamily::ParseAction), trimmed.
std::string TextOfAction(std::string_view response);

// The family of this name. Throws FatalError(kUsage) listing the names there are.
std::unique_ptr<TaskFamily> MakeTaskFamily(std::string_view name);

}  // namespace agentr
