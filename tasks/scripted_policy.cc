#include "tasks/scripted_policy.h"

#include <array>

#include "tasks/task_kinds.h"

namespace agentr {

bool PlansByGold(std::string_view family) {
  const TaskKind* kind = FindTaskKind(family);
  return kind != nullptr && kind->plans_by_gold;
}

std::string PolicyState::Mistake(RandomStream& random) {
  const std::string right = Plan();
  std::string wrong = right;
  while (wrong == right) wrong = AnyAction(random);
  return wrong;
}

std::optional<ScriptedPolicy> MakeScriptedPolicy(std::string_view family, GoldSource* gold) {
  const TaskKind* kind = FindTaskKind(family);
  if (kind == nullptr || !kind->policy) return std::nullopt;
  return ScriptedPolicy{kind->title,
                        [read = kind->policy, gold](std::span<const Message> shown, int task_id) {
                          return read(shown, task_id, gold);
                        }};
}

std::string_view AnyOpening(RandomStream& random) {
  static constexpr std::array<std::string_view, 6> kOpenings = {
      "",
      "Let me see. ",
      "So far so good. ",
      "One step at a time. ",
      "I think I know. ",
      "Next step. ",
  };
  return random.Pick(kOpenings);
}

}  // namespace agentr
