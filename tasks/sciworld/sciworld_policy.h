// SciWorld, as the scripted models play it (sciworld_planner.h, sciworld_mistakes.h).
#pragma once

#include "clients/env/gold_source.h"
#include "tasks/scripted_policy.h"

namespace agentr {

class SciWorldPolicy : public ScriptedPolicy {
 public:
  // Without `gold` (null) a position has no plan: Plan() is "look around".
  explicit SciWorldPolicy(GoldSource* gold) : gold_(gold) {}

  std::string_view title() const override { return "SciWorld"; }

  // With gold it needs the task's id: kRejected without, and the error of the source where that has
  // one.
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;

 private:
  GoldSource* const gold_;
};

}  // namespace agentr
