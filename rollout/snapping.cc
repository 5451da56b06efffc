#include "rollout/snapping.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "clients/env/http_environment.h"
#include "tasks/sciworld/sciworld_snap.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {
constexpr size_t kRecent = 3;
}  // namespace

Result<std::vector<std::string>> SnapActions(Executor& executor, int state,
                                             const std::vector<std::string>& taken,
                                             std::vector<std::string> said) {
  const std::string look = "look around";
  const std::string inventory = "inventory";
  const Result<std::vector<std::string>> valid = executor.ValidActions(state);
  if (!valid) return valid;
  AGENTR_RETURN_IF_ERROR(executor.Execute(state, {look, inventory}, /*last_turn=*/false));
  const StateTree& states = executor.states();
  const std::span<const std::string> all(taken);
  for (std::string& action : said) {
    action = SnapAction(action, *valid, states.Find(state, look)->result.observation,
                        states.Find(state, inventory)->result.observation,
                        all.last(std::min(kRecent, all.size())));
  }
  return said;
}

void CheckSnapping(const std::string& task, const HttpEnvironment& environment) {
  if (!TaskKindOf(task).snapping) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--snap_actions is for SciWorld, not for {}", task));
  }
  if (!environment.Offers("valid_actions")) {
    throw FatalError(
        ExitCode::kUsage,
        "--snap_actions needs a server with the extension \"valid_actions\", which this one does "
        "not have; use the embedded server or env_server --task sciworld");
  }
}

}  // namespace agentr
