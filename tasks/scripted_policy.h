// How the scripted models play one kind of task. A new kind is one more pair of classes here; the
// models themselves know nothing of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "clients/env/gold_source.h"
#include "clients/language_model.h"
#include "common/random.h"

namespace agentr {

// What a conversation shows, and what to do about it. Used by one thread, for the samples of one
// request; points into the conversation that it was read from. All randomness comes from `random`,
// so that a sample depends on nothing else.
class PolicyState {
 public:
  virtual ~PolicyState() = default;

  // Turns in a row, up to now, that changed nothing.
  virtual int wasted_turns() const = 0;

  // The next action of a plan towards the goal; always the same one.
  virtual std::string Plan() = 0;

  // A mistake in place of Plan(), and never that action.
  virtual std::string Mistake(RandomStream& random) = 0;

  // Any action that the conversation makes plausible.
  virtual std::string AnyAction(RandomStream& random) const = 0;

  // Words in which to take `action`, in one of several ways.
  virtual std::string Thought(std::string_view action, RandomStream& random) const = 0;
};

// Thread-safe.
class ScriptedPolicy {
 public:
  virtual ~ScriptedPolicy() = default;

  // The kind of task, for messages: "TextCraft".
  virtual std::string_view title() const = 0;

  // Nothing when the conversation shows no task of this kind. `task_id` is SamplingParams::task_id,
  // for players that plan by more than the conversation shows; an error when that cannot be had.
  virtual Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                                    int task_id) const = 0;
};

// The player of this family ("textcraft"), or nullptr when there is none. `gold` (may be null,
// outlives the player): what to plan by where PlansByGold; without it such a player only knows what
// is plausible.
std::unique_ptr<ScriptedPolicy> MakeScriptedPolicy(std::string_view family,
                                                   GoldSource* gold = nullptr);

// True if the plans of this family's player come from a GoldSource.
bool PlansByGold(std::string_view family);

// An opening, the same ones for all kinds of tasks ("Let me see. "), or none.
std::string_view AnyOpening(RandomStream& random);

}  // namespace agentr
