// The scripted policy of WebShop (webshop_planner.h, webshop_mistakes.h).
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

class WebShopPolicy : public ScriptedPolicy {
 public:
  std::string_view title() const override { return "WebShop"; }
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;
};

}  // namespace agentr
