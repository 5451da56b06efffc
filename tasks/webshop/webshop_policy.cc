#include "tasks/webshop/webshop_policy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tasks/webshop/webshop_action.h"
#include "tasks/webshop/webshop_conversation.h"
#include "tasks/webshop/webshop_mistakes.h"
#include "tasks/webshop/webshop_planner.h"

namespace agentr {
namespace {

// Reasons for an action. {0} is its argument, {1} what is to be bought, in short.
using Reasons = std::array<std::string_view, 5>;
constexpr Reasons kSearchReasons = {
    "I look for {1} with the words that matter.",
    "A search should show me what the shop has: {0}.",
    "I have to find {1} first.",
    "These words should bring up the right product.",
    "I search for {0}.",
};
constexpr Reasons kProductReasons = {
    "{0} sounds like what I am to buy, so I open it.",
    "I take a closer look at {0}.",
    "This one may be the {1} that is asked for.",
    "The title and the price of {0} look right.",
    "I open {0} to see its options.",
};
constexpr Reasons kValueReasons = {
    "The instruction asks for {0}, so I choose it.",
    "I pick {0}.",
    "Among the options I take {0}.",
    "{0} it should be.",
    "Before I buy I choose {0}.",
};
constexpr Reasons kBuyReasons = {
    "Everything is chosen, so I buy it.",
    "This is good enough for {1}; I buy it now.",
    "I have found what I need and finish the purchase.",
    "Time to buy.",
    "The product fits the instruction, I take it.",
};
constexpr Reasons kBackReasons = {
    "This does not fit; I go back.",  "I want to see the other products again.",
    "Back to look for a better {1}.", "There may be something better.",
    "I have seen enough here.",
};
constexpr Reasons kOtherWebShopReasons = {
    "I want to know more before I decide.",
    "Maybe {0} helps me.",
    "Let me try {0}.",
    "I am not sure yet that this is right for {1}.",
    "This may bring me closer to {1}.",
};

const Reasons& ReasonsFor(const WebShopPage& page, const WebShopAction& action) {
  if (action.IsSearch()) return kSearchReasons;
  const std::string key = WebShopKey(action.argument);
  if (!action.IsClick() || !page.Shows(key)) return kOtherWebShopReasons;
  if (key == "buy now") return kBuyReasons;
  if (key == "< prev" || key == "back to search") return kBackReasons;
  const auto is_key = [&](std::string_view value) { return WebShopKey(value) == key; };
  if (std::ranges::any_of(page.products, is_key, &WebShopProduct::id)) return kProductReasons;
  for (const WebShopOption& option : page.options) {
    if (std::ranges::any_of(option.values, is_key)) return kValueReasons;
  }
  return kOtherWebShopReasons;
}

class WebShopPolicyState : public PolicyState {
 public:
  explicit WebShopPolicyState(WebShopView view) : view_(std::move(view)) {}

  int wasted_turns() const override { return view_.wasted_turns; }
  std::string Plan() override { return PlanWebShop(view_); }
  std::string Mistake(RandomStream& random) override {
    return WebShopMistake(view_, Plan(), random);
  }
  std::string AnyAction(RandomStream& random) const override {
    return RandomWebShopAction(view_, random);
  }

  std::string Thought(std::string_view action, RandomStream& random) const override {
    const WebShopAction read = ReadWebShopAction(action).value_or(WebShopAction{"", action});
    return AnyThought(ReasonsFor(view_.page, read), random, read.argument, Wish());
  }

 private:
  // The first words of what is to be bought.
  std::string Wish() const {
    constexpr size_t kWords = 3;
    std::string wish;
    for (size_t i = 0; i < std::min(kWords, view_.key_words.size()); ++i) {
      wish += (i == 0 ? "" : " ") + view_.key_words[i];
    }
    return wish.empty() ? "it" : wish;
  }

  const WebShopView view_;
};

}  // namespace

std::unique_ptr<PolicyState> ReadWebShopPolicy(std::span<const Message> conversation) {
  std::optional<WebShopView> view = ReadWebShop(conversation);
  if (!view) return nullptr;
  return WebShopPolicyIn(std::move(*view));
}

std::unique_ptr<PolicyState> WebShopPolicyIn(WebShopView view) {
  return std::make_unique<WebShopPolicyState>(std::move(view));
}

}  // namespace agentr
