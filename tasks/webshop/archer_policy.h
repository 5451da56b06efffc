// The scripted policy of WebShop as ArCHer shows it: that of webshop_policy.h on the translated log.
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

class ArcherPolicy : public ScriptedPolicy {
 public:
  std::string_view title() const override { return "WebShop in ArCHer's style"; }
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;
};

}  // namespace agentr
