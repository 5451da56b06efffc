// Slips: with a given probability the environment gets another action than the one the agent said.
// An evaluation with slips measures how an agent goes on after a mistake that it did not choose.
//
// Whether a turn slips, and how, depends on the run's seed, the task, the attempt and the number of
// the turn alone. The draw is the same at every probability, so the turns that slip at 0.1 are
// among those that slip at 0.2. Revision turns never slip, because nothing is done in them, and a
// slip never ends the episode, because nobody could go on after it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/named_values.h"
#include "common/random.h"
#include "rollout/executor.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

enum class SlipKind {
  kPlausible,  // another sample of this policy, at temperature 1, with another action
  kRandom,     // another action that the environment takes there
  kRefused,    // an action that the environment refuses there
  kLost,       // the action is not sent, and the reply says that nothing happened
};

inline constexpr std::array<NamedValue<SlipKind>, 4> kSlipKinds = {
    {{"plausible", SlipKind::kPlausible},
     {"random", SlipKind::kRandom},
     {"refused", SlipKind::kRefused},
     {"lost", SlipKind::kLost}}};

// What the conversation shows of a slip.
enum class SlipShown {
  kDone,  // the substitute as the agent's own turn
  kSaid,  // what the agent said
};

inline constexpr std::array<NamedValue<SlipShown>, 2> kSlipShown = {
    {{"done", SlipShown::kDone}, {"said", SlipShown::kSaid}}};

struct SlipOptions {
  double probability = 0;  // of each turn
  SlipKind kind = SlipKind::kRandom;
  SlipShown shown = SlipShown::kDone;
};

// Declares --slip, --slip_kind and --slip_shown in the present option group.
void Declare(OptionSet& set, SlipOptions& options);

// Throws FatalError(kUsage) if the kind of slip needs actions that this kind of task does not name.
void CheckSlips(const SlipOptions& options, std::string_view task);

// The reply to an action that was lost.
inline constexpr std::string_view kNothingHappened = "Nothing happened.";

// Where a turn is to slip.
struct SlipPlace {
  const TaskFamily& family;
  Executor& executor;
  int state;  // among the executor's
  int task_id;
  std::string_view revision_action;  // never done instead of another
};

// Takes `action` in the environment; true if a turn that says `said` may slip to it: the
// environment accepts it and something changes, or for kRefused refuses it, and the episode does
// not end.
Result<bool> MaySlipTo(SlipKind kind, const SlipPlace& place, const std::string& action,
                       const std::string& said);

// What is done instead, and the response that says it (WithAction).
struct Substitute {
  std::string action;
  std::string response;
};

// The first suitable of SlipCandidates for a turn with this response, which says `said`; nullopt if
// none is. Of the kinds random and refused.
Result<std::optional<Substitute>> FindSubstitute(SlipKind kind, const SlipPlace& place,
                                                 std::string_view response, const std::string& said,
                                                 const std::vector<std::string>& earlier,
                                                 RandomStream& random);

// Distinct actions that may take the place of the action `said` there, the most suitable
// first, for the kinds random and refused. Whether the environment takes or refuses them is for the
// caller to try. `earlier`: the actions taken so far. Random ones are what a player without a plan
// would do there (PolicyState::AnyAction) or, where the environment lists them, valid actions. Ones
// that may be refused are also earlier actions, the mistakes of the scripted player
// (PolicyState::Mistake), and `said` with its words in reverse order.
Result<std::vector<std::string>> SlipCandidates(SlipKind kind, const SlipPlace& place,
                                                const std::string& said,
                                                const std::vector<std::string>& earlier,
                                                RandomStream& random);

// `response`, which says the action `said`, with `action` in its place: its thought stays, because
// the agent had it. Only the bare action if the family would read another one out of that.
std::string WithAction(const TaskFamily& family, std::string_view response, std::string_view said,
                       const std::string& action);

}  // namespace agentr
