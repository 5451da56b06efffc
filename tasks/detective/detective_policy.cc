#include "tasks/detective/detective_policy.h"

#include <array>
#include <utility>

#include "games/detective/detective_texts.h"
#include "tasks/detective/detective_map.h"

namespace agentr {
namespace {

constexpr std::array<std::string_view, 4> kWalkReasonsOfDetective = {
    "I have not seen everything yet, so I go on from the {}.",
    "There is nothing more for me in the {}.",
    "From the {} I try this way.",
    "The {} is done; I look further.",
};
constexpr std::array<std::string_view, 4> kTakeReasonsOfDetective = {
    "This may prove something.",
    "I should not leave this behind.",
    "It lies here, and I need it.",
    "I take what I find.",
};
constexpr std::array<std::string_view, 3> kArrestReasons = {
    "I have every clue, and the culprit is here.",
    "The proof is complete.",
    "Now I know enough for an arrest.",
};

class DetectivePolicyState : public PolicyState {
 public:
  explicit DetectivePolicyState(DetectiveMap map) : map_(std::move(map)) {}

  int wasted_turns() const override { return map_.wasted_turns; }
  std::string Plan() override { return NextDetectiveAction(map_); }
  // Also through a wall, so that there always is another one.
  std::string AnyAction(RandomStream& random) const override {
    const auto& valid = map_.view().actions;
    if (!valid.empty() && random.Chance(0.8)) return std::string(random.Pick(valid));
    return std::string(random.Pick(kDirections));
  }
  std::string Thought(std::string_view action, RandomStream& random) const override {
    if (action.starts_with("arrest ")) return AnyThought(kArrestReasons, random);
    if (action.starts_with("take ")) return AnyThought(kTakeReasonsOfDetective, random);
    return AnyThought(kWalkReasonsOfDetective, random, map_.here);
  }

 private:
  const DetectiveMap map_;
};

}  // namespace

std::unique_ptr<PolicyState> ReadDetectivePolicy(std::span<const Message> conversation) {
  std::optional<DetectiveMap> map = ReadDetective(conversation);
  if (!map) return nullptr;
  return std::make_unique<DetectivePolicyState>(std::move(*map));
}

}  // namespace agentr
