#include "tasks/babyai/babyai_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tasks/babyai/babyai_bot.h"

namespace agentr {
namespace {

constexpr std::array<std::string_view, 6> kBabyAiMoves = {"turn left", "turn right", "go forward",
                                                          "pick up",   "drop",       "toggle"};

// Reasons for an action. {0} is what it leads to, {1} the side of a turn.
using Reasons = std::array<std::string_view, 4>;
constexpr Reasons kTurnReasons = {
    "I have to face another way to get there, so I turn {1}.",
    "My way there begins with a turn to the {1}.",
    "I turn {1} to get there.",
    "It takes a turn to the {1} first.",
};
constexpr Reasons kLookReasons = {
    "I turn {1} to see more of the room.",
    "So I look around, to the {1}.",
    "It must be somewhere else: I turn {1}.",
    "I turn {1} and look for the {0}.",
};
constexpr Reasons kWalkReasons = {
    "This brings me closer to the {}.",
    "The way ahead is free, and I need the {}.",
    "I walk on for the {}.",
    "One step ahead, towards the {}.",
};
constexpr Reasons kSearchReasons = {
    "I walk on to see more of the room.",
    "The way ahead is free, and I look for the {}.",
    "I go on until I see it.",
    "One step ahead, to find the {}.",
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

const Reasons& ReasonsForMove(std::string_view action, bool known) {
  if (action == "go forward") return known ? kWalkReasons : kSearchReasons;
  if (action == "pick up") return kTakeReasonsOfBabyAi;
  if (action == "drop") return kDropReasons;
  if (action == "toggle") return kToggleReasons;
  return known ? kTurnReasons : kLookReasons;
}

struct Whereabouts {
  int ahead = 0;
  int right = 0;
  int Distance() const { return std::abs(ahead) + std::abs(right); }
};

// Where the nearest thing of this kind is, as far as is known, from the agent's place.
std::optional<Whereabouts> FindWhereabouts(const BabyAiMap& map, const BabyAiWanted& wanted) {
  constexpr int kRoom = 7;  // the greatest distance in a room along one side
  std::optional<Whereabouts> nearest;
  for (int ahead = -kRoom; ahead <= kRoom; ++ahead) {
    for (int right = -kRoom; right <= kRoom; ++right) {
      const BabyAiThing* const thing = map.ThingAt(map.pose().Relative(ahead, right));
      const Whereabouts at = {ahead, right};
      if (thing == nullptr || !wanted.Matches(*thing)) continue;
      if (!nearest || at.Distance() < nearest->Distance()) nearest = at;
    }
  }
  return nearest;
}

std::string Steps(int count, std::string_view where) {
  return fmt::format("{} step{} {}", count, count == 1 ? "" : "s", where);
}

// "1 step right and 2 steps forward", as the observations say it.
std::string WhereaboutsText(const Whereabouts& at) {
  if (at.ahead == 1 && at.right == 0) return "right in front of me";
  std::vector<std::string> parts;
  if (at.right != 0) {
    parts.push_back(Steps(std::abs(at.right), at.right < 0 ? "left" : "right"));
  }
  if (at.ahead != 0) {
    parts.push_back(Steps(std::abs(at.ahead), at.ahead < 0 ? "behind me" : "forward"));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

class BabyAiPolicyState : public PolicyState {
 public:
  explicit BabyAiPolicyState(BabyAiScene scene) : scene_(std::move(scene)) {}

  int wasted_turns() const override { return scene_.wasted_turns; }
  std::string Plan() override { return std::string(Step().action); }
  std::string AnyAction(RandomStream& random) const override {
    return std::string(random.Pick(kBabyAiMoves));
  }
  // Says where the thing is before what follows from it, so that whoever learns from such thoughts
  // learns to look first.
  std::string Thought(std::string_view action, RandomStream& random) const override {
    const std::string about = NameOf(Step().about);
    const std::optional<Whereabouts> at = FindWhereabouts(scene_.map, Step().about);
    std::string where = at ? fmt::format("The {} is {}.", about, WhereaboutsText(*at))
                           : fmt::format("I see no {}.", about);
    const std::string ahead = Obstacle();
    if (!ahead.empty()) where += fmt::format(" A {} is in my way.", ahead);
    const std::string_view side = action == "turn left" ? "left" : "right";
    const std::string_view opening = AnyOpening(random);
    const Reasons& reasons = ReasonsForMove(action, at.has_value());
    return fmt::format("{}{} {}", opening, where,
                       fmt::format(fmt::runtime(random.Pick(reasons)), about, side));
  }

 private:
  // "red ball".
  static std::string NameOf(const BabyAiWanted& what) {
    if (what.type.empty()) return "goal";
    return what.color.empty() ? std::string(what.type)
                              : fmt::format("{} {}", what.color, what.type);
  }

  // What is right in front and cannot be walked through, if it is not what the step leads to.
  std::string Obstacle() const {
    const BabyAiSpot front = scene_.map.pose().Front();
    const BabyAiThing* const thing = scene_.map.ThingAt(front);
    if (scene_.map.IsFree(front)) return "";
    if (thing == nullptr) return "wall";
    return Step().about.Matches(*thing) ? "" : fmt::format("{} {}", thing->color, thing->type);
  }

  const BabyAiStep& Step() const {
    if (!step_) step_ = PlanBabyAi(scene_);
    return *step_;
  }

  const BabyAiScene scene_;
  mutable std::optional<BabyAiStep> step_;  // once it is asked for
};

}  // namespace

std::unique_ptr<PolicyState> ReadBabyAiPolicy(std::span<const Message> conversation) {
  std::optional<BabyAiScene> scene = ReadBabyAi(conversation);
  if (!scene) return nullptr;
  return std::make_unique<BabyAiPolicyState>(std::move(*scene));
}

}  // namespace agentr
