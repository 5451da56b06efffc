// Plays kinds of tasks with the policy, as agent_eval does: conversations with an environment
// server, many episodes at once, on one engine in this process that gets the policy's new weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/env/http_environment.h"
#include "lm/local_language_model.h"
#include "rl/policies/policy_model.h"
#include "rollout/cut_turns.h"
#include "rollout/episode.h"
#include "rollout/episode_player.h"
#include "rollout/first_responses.h"
#include "rollout/workbench.h"
#include "tasks/task_family.h"

namespace agentr {

class TaskPlayer {
 public:
  // Opens the environment of options.tasks. All outlive it. Throws FatalError.
  TaskPlayer(const AgentRlOptions& options, PolicyModel& policy, Workbench& workbench);

  // The ids of the split or file, as agent_eval reads them. Throws FatalError, also kUsage for test
  // tasks among those to `learn` from.
  std::vector<int> Tasks(const std::string& split, bool learn) const;

  const TaskFamily& family() const { return *family_; }

  // From now on the policy's present weights play. Ends the run if they cannot (EndDiverged).
  void Load(int64_t version);

  // Plays `starts`, and returns the episodes in their order; nullopt if a signal came before all
  // were played. An episode is a function of its start, the weights, `temperature` and `seed`.
  // Those that failed have no result (HasResult). Ends the run if the logits are not finite
  // (EndDiverged). Throws FatalError(kUnavailable) if all failed.
  std::optional<std::vector<Episode>> Play(const std::vector<EpisodeStart>& starts,
                                           double temperature, uint64_t seed);

 private:
  const AgentRlOptions& options_;
  PolicyModel& policy_;
  const std::unique_ptr<TaskFamily> family_;
  const std::unique_ptr<HttpEnvironment> environment_;
  std::unique_ptr<LocalLanguageModel> model_;
  FirstResponses first_responses_;
  CutTurns cut_turns_;
};

}  // namespace agentr
