// The scripted policy of Twenty Questions (asker.h).
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

class TwentyQuestionsPolicy : public ScriptedPolicy {
 public:
  std::string_view title() const override { return "Twenty Questions"; }
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;
};

}  // namespace agentr
