// The scripted policy of SciWorld (sciworld_planner.h, sciworld_mistakes.h).
#pragma once

#include "clients/env/gold_source.h"
#include "tasks/scripted_policy.h"

namespace agentr {

class SciWorldPolicy : public ScriptedPolicy {
 public:
  // Without `gold` (null) there is no plan: Plan() is "look around".
  explicit SciWorldPolicy(GoldSource* gold) : gold_(gold) {}

  std::string_view title() const override { return "SciWorld"; }

  // With gold it needs the task's id: kRejected if it is missing, or the error of the source.
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;

 private:
  GoldSource* const gold_;
};

}  // namespace agentr
