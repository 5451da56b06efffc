// The scripted policy of BabyAI-Text (babyai_bot.h): all it knows is what the conversation shows.
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

class BabyAiPolicy : public ScriptedPolicy {
 public:
  std::string_view title() const override { return "BabyAI-Text"; }
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;
};

}  // namespace agentr
