// The scripted policy of WebShop (webshop_planner.h, webshop_mistakes.h).
#pragma once

#include "tasks/scripted_policy.h"
#include "tasks/webshop/webshop_conversation.h"

namespace agentr {

class WebShopPolicy : public ScriptedPolicy {
 public:
  std::string_view title() const override { return "WebShop"; }
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;
};

// What the policy does in `view`, whose texts outlive the result.
std::unique_ptr<PolicyState> WebShopPolicyIn(WebShopView view);

}  // namespace agentr
