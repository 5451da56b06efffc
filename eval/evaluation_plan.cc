#include "eval/evaluation_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/error.h"
#include "common/json_lenient.h"
#include "eval/failed_trajectories.h"
#include "eval/task_episodes.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

FatalError RefuseRevisionTest(const RevisionTestOptions& options, const std::string& reason) {
  return FatalError(ExitCode::kUsage, fmt::format("--revision_from {}: {}", options.from, reason));
}

// The failed episodes of `earlier`, which must be of this kind of task.
std::vector<Episode> FailedOf(const RevisionTestOptions& options,
                              std::vector<StoredEpisode> earlier) {
  std::vector<Episode> episodes;
  for (StoredEpisode& stored : earlier) {
    const std::string task = FieldOr<std::string>(Json::parse(stored.options), "task", "");
    if (task != options.task) {
      throw RefuseRevisionTest(
          options, fmt::format("it contains episodes of {}, not of {}; give --task {}", task,
                               options.task, task));
    }
    episodes.push_back(std::move(stored.episode));
  }
  std::vector<Episode> failed = Failed(std::move(episodes), options.success);
  if (failed.empty()) {
    throw RefuseRevisionTest(
        options, fmt::format("no episode there has a reward below {}", options.success));
  }
  return failed;
}

}  // namespace

EvaluationPlan PlanAttempts(const std::vector<int>& ids, int attempts, Json played_with) {
  EvaluationPlan plan;
  plan.played_with = std::move(played_with);
  for (const int id : ids) {
    for (int attempt = 0; attempt < attempts; ++attempt) plan.starts.push_back({id, attempt, {}});
  }
  return plan;
}

EvaluationPlan PlanRevisionTest(const RevisionTestOptions& options,
                                std::vector<StoredEpisode> earlier,
                                const std::optional<std::vector<int>>& only, Json played_with) {
  EvaluationPlan plan;
  plan.played_with = std::move(played_with);
  plan.played_with["cut"] = options.cut;
  plan.trajectories = FailedOf(options, std::move(earlier));
  if (only) {
    std::erase_if(plan.trajectories, [&](const Episode& episode) {
      return std::ranges::find(*only, episode.task_id) == only->end();
    });
  }
  plan.starts = CutTrajectories(plan.trajectories, options.cut, options.seed, options.max_steps);
  if (plan.starts.empty()) {
    throw RefuseRevisionTest(
        options,
        fmt::format("no failed episode of the selected tasks has two turns within --max_steps {}",
                    options.max_steps));
  }
  return plan;
}

void CheckFolder(const EpisodeStore& store, const EvaluationPlan& plan) {
  const std::vector<Episode> episodes = store.Load();
  const Episode* other = FirstNotGoneOnFrom(episodes, plan.starts);
  if (other == nullptr) return;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("{} continues another trajectory than that of --revision_from: "
                               "choose another --output_dir, or remove the folder",
                               store.PlaceOf(other->task_id, other->attempt)));
}

std::vector<Episode> EpisodesOf(const EvaluationPlan& plan, std::vector<Episode> stored,
                                const std::vector<Episode>& failed) {
  const auto wanted = ByAttempt(plan.starts);
  std::erase_if(stored, [&](const Episode& episode) { return !wanted.contains(IdOf(episode)); });
  const auto there = ByAttempt(stored);
  std::vector<Episode> lacking;
  std::ranges::copy_if(failed, std::back_inserter(lacking),
                       [&](const Episode& episode) { return !there.contains(IdOf(episode)); });
  stored.insert(stored.end(), lacking.begin(), lacking.end());
  return stored;
}

}  // namespace agentr
