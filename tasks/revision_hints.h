// What the revision of failed paths asks about a kind of task, as data and pure functions. All of
// it is optional: without a hint, revision finds less. TaskFamily::hints gives them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

class TaskFamily;

struct WordedAction {
  std::string thought;  // why it is taken
  std::string action;
  std::string check = {};  // what the thought says first, of the last action; "" if nothing
};

// `history` is the first observation and all turns since then.
class RevisionHints {
 public:
  virtual ~RevisionHints() = default;

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
  // environment replied `after`; empty if there is no better one than those of MistakeNameOf. It
  // selects the revision thoughts, and mistakes are counted by it.
  virtual std::string_view MistakeName(std::span<const Message> /*history*/,
                                       std::string_view /*action*/,
                                       std::string_view /*after*/) const {
    return "";
  }

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

// An observation as it is compared with others: on one line, without readings.
std::string PlainText(const TaskFamily& family, const std::string& observation);
bool SameButForReadings(const TaskFamily& family, const std::string& one, const std::string& other);

// The name by the family's hints, else "refused" for an action that the environment refused, and
// "dead_end".
std::string_view MistakeNameOf(const TaskFamily& family, std::span<const Message> history,
                               std::string_view action, std::string_view after);

}  // namespace agentr
