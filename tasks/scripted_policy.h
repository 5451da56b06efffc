// How the scripted models play one kind of task. A new kind of task needs a PolicyState and a
// function that reads it (TaskKind::policy); the models themselves do not change.
#pragma once

#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "clients/env/gold_source.h"
#include "clients/language_model.h"
#include "common/random.h"

namespace agentr {

// The state that a conversation shows, and the actions to choose in it. Used by one thread for the
// samples of one request; points into the conversation that it was read from. All randomness comes
// from `random`.
class PolicyState {
 public:
  virtual ~PolicyState() = default;

  // The number of last turns in a row that changed nothing.
  virtual int wasted_turns() const = 0;

  // The next action of a plan towards the goal; the same for every call.
  virtual std::string Plan() = 0;

  // A mistake instead of Plan(), never that action itself. By default any other action.
  virtual std::string Mistake(RandomStream& random);

  // Any action that is plausible from the conversation.
  virtual std::string AnyAction(RandomStream& random) const = 0;

  // A thought that gives a reason for `action`, in one of several phrasings.
  virtual std::string Thought(std::string_view action, RandomStream& random) const = 0;
};

// Thread-safe.
struct ScriptedPolicy {
  std::string_view title;  // the kind of task, for messages: "TextCraft"

  // Reads the conversation; null if it shows no task of this kind. `task_id` is
  // SamplingParams::task_id, for policies whose plan needs more than the conversation shows; an
  // error if that cannot be obtained.
  std::function<Result<std::unique_ptr<PolicyState>>(std::span<const Message> conversation,
                                                     int task_id)>
      read;
};

// The policy of this family ("textcraft"), if there is one. `gold` (may be null, outlives the
// policy) gives the plans if PlansByGold is true; without it such a policy only knows plausible
// actions.
std::optional<ScriptedPolicy> MakeScriptedPolicy(std::string_view family,
                                                 GoldSource* gold = nullptr);

// True if the plans of this family's policy come from a GoldSource.
bool PlansByGold(std::string_view family);

// A random opening of a thought ("Let me see. "), or "". The choices are the same for all kinds of
// tasks.
std::string_view AnyOpening(RandomStream& random);

// An opening, and one of `reasons` with the arguments filled in.
template <size_t n, typename... Arguments>
std::string AnyThought(const std::array<std::string_view, n>& reasons, RandomStream& random,
                       const Arguments&... arguments) {
  const std::string_view opening = AnyOpening(random);
  return fmt::format("{}{}", opening,
                     fmt::format(fmt::runtime(random.Pick(reasons)), arguments...));
}

}  // namespace agentr
