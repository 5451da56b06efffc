// The properties of one kind of task (TextCraft, WebShop, …), as data and pure functions.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

class OptionSet;

struct WordedAction {
  std::string thought;
  std::string action;
};

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
  // with which the state was entered, `after` the reply to the action, both exactly as the
  // environment gave them. Property tests check this against the servers.
  virtual bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                                    std::string_view after) const = 0;

  // True if the environment refused `action` because it is malformed or impossible in that state
  // (an invalid action). The arguments are those of LeavesStateUnchanged.
  virtual bool IsRefusal(std::string_view before, std::string_view action,
                         std::string_view after) const = 0;

  // Whether each of `actions` will probably leave the state unchanged after `history` (the first
  // observation and the later turns that changed something). This is a hint for the order of
  // execution; a wrong one only costs calls.
  virtual std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                            std::span<const std::string> actions) const = 0;

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

  // The functions below serve the revision of failed paths. `history` is the first observation and
  // all turns since then.

  // True if an action that leaves the state unchanged may still give new information, such as a
  // look around a room. False if the replies to the other actions already tell everything.
  virtual bool MayInform(std::string_view /*action*/) const { return false; }

  // A text that is equal for histories that probably lead to the same state of a task, and differs
  // otherwise; empty if unknown. This is a hint that callers must verify.
  virtual std::string StateKey(std::span<const Message> /*history*/) const { return ""; }

  // An observation without the values that instruments show: these depend on the time that has
  // passed, and another value alone does not mean that the episode went another way.
  struct Readings {
    std::string text;                 // the observation, with "#" in place of each value
    std::vector<std::string> values;  // in order
  };
  virtual Readings WithoutReadings(std::string_view observation) const {
    return {std::string(observation), {}};
  }

  // A short name such as "missing_item" for the mistake in `action` after `history`, to which the
  // environment replied `after`. It selects the revision thoughts, and mistakes are counted by it.
  virtual std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                                       std::string_view after) const;

  // Actions that may lead from the state after `history` to one in which the actions `wanted` can
  // be taken: the way back, or getting missing material. The most promising come first.
  virtual std::vector<std::string> Recoveries(std::span<const Message> /*history*/,
                                              std::span<const std::string> /*wanted*/) const {
    return {};
  }

  // The turn that takes `action` after `history`, in the words of the demonstrations: with the
  // reasons for it, and the action as they spell it, which the environment takes for the same.
  // nullopt if the family has no such words, or if `history` does not show why.
  virtual std::optional<WordedAction> Reworded(std::span<const Message> /*history*/,
                                               std::string_view /*action*/) const {
    return std::nullopt;
  }

  // False if it is certain that `thought` contradicts `action` or what `history` shows.
  virtual bool ThoughtFits(std::span<const Message> /*history*/, std::string_view /*thought*/,
                           std::string_view /*action*/) const {
    return true;
  }
};

// Declares --style, another form in which a task is shown. After parsing, `task` is the name of the
// kind of task in that form: "webshop_archer" for "webshop" (also if it was empty) and "archer".
void DeclareStyle(OptionSet& set, std::string& style, std::string& task);

// The family of this name. Throws FatalError(kUsage) with the list of known names.
std::unique_ptr<TaskFamily> MakeTaskFamily(std::string_view name);

}  // namespace agentr
