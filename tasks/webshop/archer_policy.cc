#include "tasks/webshop/archer_policy.h"

#include <optional>
#include <utility>

#include "games/webshop/archer_texts.h"
#include "tasks/webshop/archer_log.h"
#include "tasks/webshop/webshop_conversation.h"
#include "tasks/webshop/webshop_page.h"
#include "tasks/webshop/webshop_policy.h"

namespace agentr {
namespace {

// Spells the actions as the page does.
class ArcherPolicyState : public PolicyState {
 public:
  explicit ArcherPolicyState(ArcherSession session) : session_(std::move(session)) {
    std::optional<WebShopView> view = ReadWebShop(session_.turns);
    if (!view) return;
    view->failed_action = session_.failed_action;
    view->wasted_turns = session_.wasted_turns;
    view->actions_left = archer::kMostActions - session_.actions;
    state_ = WebShopPolicyIn(std::move(*view));
  }

  bool shows_task() const { return state_ != nullptr; }

  int wasted_turns() const override { return state_->wasted_turns(); }
  std::string Plan() override { return Spelled(state_->Plan()); }
  std::string Mistake(RandomStream& random) override { return Spelled(state_->Mistake(random)); }
  std::string AnyAction(RandomStream& random) const override {
    return Spelled(state_->AnyAction(random));
  }
  std::string Thought(std::string_view action, RandomStream& random) const override {
    return state_->Thought(action, random);
  }

 private:
  std::string Spelled(std::string_view action) const {
    return AsSpelledOnPage(session_.turns.back().content, action);
  }

  const ArcherSession session_;  // state_ points into it
  std::unique_ptr<PolicyState> state_;
};

}  // namespace

std::unique_ptr<PolicyState> ReadArcherPolicy(std::span<const Message> conversation) {
  auto state = std::make_unique<ArcherPolicyState>(NewestArcherLog(conversation));
  if (!state->shows_task()) return nullptr;
  return state;
}

}  // namespace agentr
