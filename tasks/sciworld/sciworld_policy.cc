#include "tasks/sciworld/sciworld_policy.h"

#include <array>
#include <optional>
#include <utility>

#include "tasks/sciworld/sciworld_family.h"
#include "tasks/sciworld/sciworld_mistakes.h"
#include "tasks/sciworld/sciworld_planner.h"

namespace agentr {
namespace {

// Reasons for an action. {} is what it is about.
using Reasons = std::array<std::string_view, 5>;
constexpr Reasons kWayReasons = {
    "What I need should be behind the door to the {}.",
    "I have to get to the {}.",
    "There is more to find in the {}.",
    "My way leads to the {}.",
    "The {} is where I go on.",
};
constexpr Reasons kLookReasons = {
    "I want to know what is here.",         "Let me see what I have to work with.",
    "I should find out more before I act.", "A look does no harm.",
    "I check where things stand.",
};
constexpr Reasons kTakeReasons = {
    "I will need the {}.",
    "I take {} with me.",
    "The {} has to be moved for the task.",
    "This should bring {} to where it belongs.",
    "I use my hands on the {}.",
};
constexpr Reasons kFocusReasons = {
    "The task is about {}, so I point it out.",
    "This must be what is asked for: {}.",
    "I have found {} and focus on it.",
    "The task wants me to focus first, and I choose {}.",
    "{} it is.",
};
constexpr Reasons kWaitReasons = {
    "It takes some time.", "I let it work.",      "Something should happen if I wait.",
    "There is no hurry.",  "I give it a moment.",
};
constexpr Reasons kOtherSciWorldReasons = {
    "Let me try it with the {}.",
    "I think that {} matters here.",
    "The next thing to do is something with {}.",
    "I see what this does to {}.",
    "This may bring me closer to the end.",
};

// The beginning of an action, which its object follows, and the reasons to take it.
struct ActionKind {
  std::string_view begin;
  const Reasons& reasons;
};
constexpr std::array<ActionKind, 12> kActionKinds = {{{"go to ", kWayReasons},
                                                      {"open door to ", kWayReasons},
                                                      {"look", kLookReasons},
                                                      {"inventory", kLookReasons},
                                                      {"task", kLookReasons},
                                                      {"examine ", kLookReasons},
                                                      {"pick up ", kTakeReasons},
                                                      {"put down ", kTakeReasons},
                                                      {"move ", kTakeReasons},
                                                      {"pour ", kTakeReasons},
                                                      {"focus on ", kFocusReasons},
                                                      {"wait", kWaitReasons}}};

std::string ThoughtOn(std::string_view action, RandomStream& random) {
  std::string_view about = action.substr(action.find(' ') + 1);
  const Reasons* reasons = &kOtherSciWorldReasons;
  for (const ActionKind& kind : kActionKinds) {
    if (!action.starts_with(kind.begin)) continue;
    about = action.substr(kind.begin.size());
    reasons = &kind.reasons;
    break;
  }
  return AnyThought(*reasons, random, about);
}

class SciWorldPolicyState : public PolicyState {
 public:
  SciWorldPolicyState(SciWorldView view, std::vector<std::string> steps)
      : view_(std::move(view)), steps_(std::move(steps)) {}

  int wasted_turns() const override { return view_.wasted_turns; }
  std::string Plan() override { return PlanSciWorld(view_, steps_); }
  std::string Mistake(RandomStream& random) override {
    return SciWorldMistake(view_, Plan(), SkipSciWorldStep(view_, steps_), random);
  }
  std::string AnyAction(RandomStream& random) const override {
    return RandomSciWorldAction(view_, random);
  }
  std::string Thought(std::string_view action, RandomStream& random) const override {
    return ThoughtOn(action, random);
  }

 private:
  const SciWorldView view_;
  const std::vector<std::string> steps_;
};

}  // namespace

Result<std::unique_ptr<PolicyState>> ReadSciWorldPolicy(std::span<const Message> conversation,
                                                        int task_id, GoldSource* gold) {
  std::optional<SciWorldView> view = ReadSciWorld(conversation);
  if (!view) return nullptr;
  std::vector<std::string> steps;
  if (gold != nullptr) {
    if (task_id < 0) {
      return Fail(ErrorKind::kRejected,
                  "SciWorld's planner needs the task's id, which the request does not contain");
    }
    AGENTR_ASSIGN_OR_RETURN(const std::vector<std::string> solution, gold->GoldFor(task_id));
    steps = SciWorldSteps(solution);
  }
  return std::make_unique<SciWorldPolicyState>(std::move(*view), std::move(steps));
}

}  // namespace agentr
