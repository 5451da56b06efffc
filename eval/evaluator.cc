#include "eval/evaluator.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <tuple>
#include <utility>

#include "rollout/replay_executor.h"
#include "rollout/task_run.h"

namespace agentr {
namespace {

// An episode uses its session until its end. With fewer sessions than episodes, the episodes would
// take sessions from one another and replay.
ParallelismOptions WithASessionEach(ParallelismOptions options, const Environment& environment) {
  if (options.sessions == 0) options.sessions = environment.DefaultSessions();
  options.in_flight = std::min(options.in_flight, options.sessions);
  return options;
}

}  // namespace

struct Evaluator::Shared {
  TaskRun run;

  std::mutex mutex = {};
  std::vector<Episode> failed = {};  // guarded by mutex
  int64_t turns = 0;                 // guarded by mutex; of the written episodes
  int64_t written = 0;               // guarded by mutex
  double rewards = 0;                // guarded by mutex; of the written episodes
};

Evaluator::Evaluator(const TaskFamily& family, Environment& environment, LanguageModel& model,
                     EpisodeStore& store, const PlayOptions& play,
                     const ParallelismOptions& options)
    : family_(family),
      environment_(environment),
      model_(model),
      store_(store),
      play_(play),
      options_(options) {}

EvaluatorReport Evaluator::Run(const std::vector<EpisodeStart>& starts, std::atomic<bool>& stop) {
  const ParallelismOptions options = WithASessionEach(options_, environment_);
  Shared shared{{starts.size(), options, environment_, stop, "episodes", "turns"}};
  shared.run.Run(
      [&](size_t index) { return store_.TryClaim(starts[index].task_id, starts[index].attempt); },
      [&](size_t index) { return PlayAndKeep(starts[index], shared); });
  EvaluatorReport report;
  static_cast<RunReport&>(report) = shared.run.TakeReport();
  report.failed = std::move(shared.failed);
  report.turns = shared.turns;
  std::ranges::sort(report.failed, {}, [](const Episode& episode) {
    return std::tuple(episode.task_id, episode.attempt);
  });
  return report;
}

bool Evaluator::PlayAndKeep(const EpisodeStart& start, Shared& shared) {
  Result<Episode> episode = PlayOnce(start, shared);
  for (int tries = 1;
       episode && !HasResult(episode->end) && shared.run.TryAgain(episode->error_kind, tries);
       ++tries) {
    spdlog::debug("task {}: {}; try {}", start.task_id, episode->error, tries + 1);
    episode = PlayOnce(start, shared);
  }
  if (episode && HasResult(episode->end)) return Keep(*episode, shared);
  store_.Release(start.task_id, start.attempt, episode ? episode->error : "");
  if (!episode || !shared.run.Failed(episode->error_kind)) return true;
  spdlog::warn("task {} failed ({}): {}", episode->task_id, Name(episode->end), episode->error);
  const std::lock_guard lock(shared.mutex);
  shared.failed.push_back(std::move(*episode));
  return true;
}

Result<Episode> Evaluator::PlayOnce(const EpisodeStart& start, Shared& shared) {
  TaskRun& run = shared.run;
  // An episode has no branches, so forks are not needed: a session that only steps forward costs
  // one reset and one step per turn.
  ReplayExecutor executor(start.task_id, run.sessions(), family_, run.stop());
  EpisodePlayer player(play_, start,
                       {family_, model_, executor, run.stop(), [&] { run.progress().AddUnits(1); },
                        &run.first_responses(), &run.cut_turns()});
  Result<Episode> episode = player.Run();
  run.AddCost(episode ? episode->usage : Usage(), executor.stats());
  return episode;
}

bool Evaluator::Keep(const Episode& episode, Shared& shared) {
  if (!store_.Commit(episode)) return false;
  shared.run.Finished();
  const std::lock_guard lock(shared.mutex);
  ++shared.written;
  shared.turns += static_cast<int64_t>(episode.turns.size());
  shared.rewards += episode.reward;
  shared.run.progress().Note(
      fmt::format("mean reward {:.3f}", shared.rewards / static_cast<double>(shared.written)));
  return true;
}

}  // namespace agentr
