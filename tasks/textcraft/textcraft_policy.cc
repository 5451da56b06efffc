#include "tasks/textcraft/textcraft_policy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tasks/textcraft/textcraft_conversation.h"
#include "tasks/textcraft/textcraft_mistakes.h"
#include "tasks/textcraft/textcraft_planner.h"

namespace agentr {
namespace {

// Reasons for an action. {0} is its item, {1} the goal.
using Reasons = std::array<std::string_view, 5>;
constexpr Reasons kGetReasons = {
    "I need {0} for the {1}, so I pick it up.",
    "There is no {0} in my hands yet; I get some.",
    "To make {1} I should have {0} first.",
    "I will collect {0} now.",
    "{0} is still missing.",
};
constexpr Reasons kCraftReasons = {
    "I have what {0} takes, so I craft it.", "Now I can make {0}.",
    "Crafting {0} is the thing to do now.",  "I use what I hold to make {0}.",
    "The commands tell me how to make {0}.",
};
constexpr Reasons kOtherTextCraftReasons = {
    "I check where I stand before I make {1}.",
    "I am not sure what I hold.",
    "I want to know what is left for the {1}.",
    "Maybe this brings me further.",
    "I try this for the {1}.",
};

const Reasons& ReasonsFor(std::string_view action) {
  if (action.starts_with("get ")) return kGetReasons;
  if (action.starts_with("craft ")) return kCraftReasons;
  return kOtherTextCraftReasons;
}

// The item that an action text is about: "get 2 oak planks", "craft 4 stick using …".
std::string_view ItemIn(std::string_view action) {
  const size_t digit = action.find_first_of("0123456789");
  const size_t begin = action.find(' ', std::min(digit, action.size()));
  if (begin == std::string_view::npos) return action;
  const std::string_view item = action.substr(begin + 1);
  return item.substr(0, item.find(" using "));
}

class TextCraftPolicyState : public PolicyState {
 public:
  explicit TextCraftPolicyState(TextCraftView view) : view_(std::move(view)) {}

  int wasted_turns() const override { return view_.wasted_turns; }
  std::string Plan() override { return ActionText(view_, Next()); }
  std::string Mistake(RandomStream& random) override {
    return TextCraftMistake(view_, Next(), random);
  }
  std::string AnyAction(RandomStream& random) const override {
    return ActionText(view_, RandomTextCraftAction(view_, random));
  }

  std::string Thought(std::string_view action, RandomStream& random) const override {
    return AnyThought(ReasonsFor(action), random, ItemIn(action),
                      view_.names[static_cast<size_t>(view_.goal)]);
  }

 private:
  // The plan, made once on first use.
  const TextCraftAction& Next() {
    if (!next_) {
      const std::vector<TextCraftAction> plan = PlanTextCraft(view_);
      next_ = plan.empty() ? TextCraftAction() : plan.front();
    }
    return *next_;
  }

  const TextCraftView view_;
  std::optional<TextCraftAction> next_;
};

}  // namespace

std::unique_ptr<PolicyState> ReadTextCraftPolicy(std::span<const Message> conversation) {
  std::optional<TextCraftView> view = ReadTextCraft(conversation);
  if (!view) return nullptr;
  return std::make_unique<TextCraftPolicyState>(std::move(*view));
}

}  // namespace agentr
