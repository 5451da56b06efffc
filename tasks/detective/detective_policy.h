// The scripted policy of Detective: the explorer of detective_map.h.
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

class DetectivePolicy : public ScriptedPolicy {
 public:
  std::string_view title() const override { return "Detective"; }
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;
};

}  // namespace agentr
