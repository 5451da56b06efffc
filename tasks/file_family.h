// A family whose rules are data from a task file.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/named_values.h"
#include "common/pattern.h"
#include "tasks/revision_hints.h"
#include "tasks/scripted_policy.h"
#include "tasks/task_family.h"

namespace agentr {

// Where the action stands in a response.
enum class ActionFormat {
  kReact,     // TextOfAction: behind the last "Action:"
  kWhole,     // all of it but for a thought
  kRegex,     // what a pattern finds
  kFence,     // in the last code fence
  kToolJson,  // the last call of a tool, TextOfToolCall
};

inline constexpr std::array<NamedValue<ActionFormat>, 5> kActionFormats = {
    {{"react", ActionFormat::kReact},
     {"whole", ActionFormat::kWhole},
     {"regex", ActionFormat::kRegex},
     {"fence", ActionFormat::kFence},
     {"tool_json", ActionFormat::kToolJson}}};

// In FileRules::offered_as.
inline constexpr std::string_view kOfferedPlace = "{offered}";

struct FileRules {
  std::string name;
  std::vector<Message> instruction;
  int depth = 20;
  double success = 1;

  ActionFormat format = ActionFormat::kReact;
  std::string argument = "action";      // of kReact: the argument of a tool call that holds it
  std::optional<Pattern> pattern = {};  // of kRegex: its first group, or all if it has none
  bool last = true;                     // the last match of the pattern, else the first
  std::optional<Pattern> removed = {};  // what is taken out of an action
  bool one_line = true;                 // only the first line of an action
  bool lower = false;

  // Of an observation.
  std::vector<Pattern> refused = {}, unchanged = {}, readings = {};
  std::vector<Pattern> informing = {};  // of an action
  bool refusal_is_unchanged = true;     // false: a refused action uses up a turn of the task
  bool same_is_unchanged = false;       // an observation equal to the one before
  bool observation_is_state = false;    // equal observations are equal states
  std::string revision_action = "wait";
  std::vector<std::pair<std::string, Pattern>> mistakes = {};  // by what the observation says

  // What an observation offers: the pieces of what `offers` finds, divided by `between`; if that is
  // empty, each match is a piece. A match is its first group, or all of it.
  std::optional<Pattern> offers = {};
  std::string between = ",";
  std::string offered_as = {};  // the action that takes a piece, "click[{offered}]"; "": the piece

  // What a scripted player may do: these, and those of the pieces of the last observation that has
  // some.
  std::vector<std::string> actions = {};

  // Actions whose first group (or all of it) has to be a piece of the observation, those that need
  // not, and pieces that no action takes.
  std::vector<Pattern> must_be_offered = {}, need_not_be_offered = {};
  std::vector<std::string> labels = {};
  bool offered_ignore_case = false;
};

// Whether an action can be taken where an observation is shown, by what must be offered.
enum class Offer {
  kPossible,    // it is offered, need not be, or nothing is known
  kNotOffered,  // its argument is no piece of the observation
  kMalformed,   // it is neither an action that must be offered nor one that need not
};

class FileFamily : public TaskFamily, public RevisionHints {
 public:
  explicit FileFamily(std::shared_ptr<const FileRules> rules) : rules_(std::move(rules)) {}

  std::string_view name() const override { return rules_->name; }
  const RevisionHints& hints() const override { return *this; }
  std::vector<Message> Instruction() const override { return rules_->instruction; }
  std::string ParseAction(std::string_view response) const override;
  // True for a refusal unless the file says otherwise, an observation that says so, and, if the
  // file says so, one that is equal to the one before. What is not offered is refused if the
  // observation stays.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;
  int SearchDepth(int /*task*/) const override { return rules_->depth; }
  double SuccessReward() const override { return rules_->success; }
  std::string_view RevisionAction() const override { return rules_->revision_action; }

  bool MayInform(std::string_view action) const override;
  std::string StateKey(std::span<const Message> history) const override;
  Readings WithoutReadings(std::string_view observation) const override;
  std::string_view MistakeName(std::span<const Message> history, std::string_view action,
                               std::string_view after) const override;

  // Those that the file or the last list of actions names.
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;

  // The first pattern that refuses an action with this observation; nullptr: none does.
  const Pattern* RefusedBy(std::string_view after) const;
  Offer OfferOf(std::string_view observation, std::string_view action) const;
  const FileRules& rules() const { return *rules_; }

 private:
  const std::shared_ptr<const FileRules> rules_;
};

// What `observation` offers; nullopt if it says nothing about that.
std::optional<std::vector<std::string>> OfferedPieces(const FileRules& rules,
                                                      std::string_view observation);

// The actions that take what `observation` offers, without labels.
std::vector<std::string> OffersOf(const FileRules& rules, std::string_view observation);

// The actions that a player may take after `conversation`.
std::vector<std::string> OfferedActions(const FileRules& rules,
                                        std::span<const Message> conversation);

// A player that takes any of these actions; null if there is none.
std::unique_ptr<PolicyState> ReadFilePolicy(const FileRules& rules,
                                            std::span<const Message> conversation);

}  // namespace agentr
