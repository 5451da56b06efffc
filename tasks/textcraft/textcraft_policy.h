// The scripted policy of TextCraft (textcraft_planner.h, textcraft_mistakes.h).
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

class TextCraftPolicy : public ScriptedPolicy {
 public:
  std::string_view title() const override { return "TextCraft"; }
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;
};

}  // namespace agentr
