// The scripted policy of WebShop (webshop_planner.h, webshop_mistakes.h).
#pragma once

#include "tasks/scripted_policy.h"
#include "tasks/webshop/webshop_conversation.h"

namespace agentr {

// Null if the conversation shows no task of this kind.
std::unique_ptr<PolicyState> ReadWebShopPolicy(std::span<const Message> conversation);

// What the policy does in `view`, whose texts outlive the result.
std::unique_ptr<PolicyState> WebShopPolicyIn(WebShopView view);

}  // namespace agentr
