#include "tasks/babyai/babyai_policy.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "tasks/babyai/babyai_bot.h"

namespace agentr {
namespace {

constexpr std::array<std::string_view, 6> kBabyAiMoves = {"turn left", "turn right", "go forward",
                                                          "pick up",   "drop",       "toggle"};

// Reasons for an action. {} is what the mission is about.
using Reasons = std::array<std::string_view, 4>;
constexpr Reasons kTurnReasons = {
    "I have to face another way on my way to the {}.",
    "The {} is not ahead of me, so I turn.",
    "I turn to see more of the room, for the {}.",
    "My way to the {} begins with a turn.",
};
constexpr Reasons kWalkReasons = {
    "This brings me closer to the {}.",
    "The way ahead is free, and I need the {}.",
    "I walk on for the {}.",
    "One step ahead, towards the {}.",
};
constexpr Reasons kTakeReasonsOfBabyAi = {
    "It is right in front of me, and I need it for the {}.",
    "I take what lies ahead, because of the {}.",
    "My hands are free, so I pick it up: the goal is the {}.",
    "This is what I need for the {}.",
};
constexpr Reasons kDropReasons = {
    "I put down what I carry, for the {}.",
    "I need free hands for the {}.",
    "This is the place for it, next to the {} if I am right.",
    "Here is room for it, and I go on with the {}.",
};
constexpr Reasons kToggleReasons = {
    "It is right in front of me, so I open it: the {}.",
    "Toggling should do it for the {}.",
    "I try to open what is ahead, for the {}.",
    "The {} asks for this.",
};

const Reasons& ReasonsForMove(std::string_view action) {
  if (action == "go forward") return kWalkReasons;
  if (action == "pick up") return kTakeReasonsOfBabyAi;
  if (action == "drop") return kDropReasons;
  return action == "toggle" ? kToggleReasons : kTurnReasons;
}

class BabyAiPolicyState : public PolicyState {
 public:
  explicit BabyAiPolicyState(BabyAiScene scene) : scene_(std::move(scene)) {}

  int wasted_turns() const override { return scene_.wasted_turns; }
  std::string Plan() override {
    if (plan_.empty()) plan_ = PlanBabyAi(scene_);
    return plan_;
  }
  std::string AnyAction(RandomStream& random) const override {
    return std::string(random.Pick(kBabyAiMoves));
  }
  std::string Thought(std::string_view action, RandomStream& random) const override {
    return AnyThought(ReasonsForMove(action), random, About());
  }

 private:
  // "red ball".
  std::string About() const {
    if (scene_.errands.empty()) return "goal";
    const BabyAiWanted& what = scene_.errands.front().what;
    return what.color.empty() ? std::string(what.type)
                              : fmt::format("{} {}", what.color, what.type);
  }

  const BabyAiScene scene_;
  std::string plan_;
};

}  // namespace

std::unique_ptr<PolicyState> ReadBabyAiPolicy(std::span<const Message> conversation) {
  std::optional<BabyAiScene> scene = ReadBabyAi(conversation);
  if (!scene) return nullptr;
  return std::make_unique<BabyAiPolicyState>(std::move(*scene));
}

}  // namespace agentr
