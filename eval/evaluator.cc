#include "eval/evaluator.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <tuple>
#include <utility>

#include "common/options.h"
#include "common/progress.h"
#include "common/work_queue.h"
#include "rollout/replay_executor.h"
#include "rollout/session_pool.h"

namespace agentr {

void Declare(OptionSet& set, EvaluatorOptions& o) {
  set.Group("Parallelism");
  set.Add("--episodes_in_flight", o.episodes_in_flight,
          "Episodes played at once (waiting holds no core), at most as many as sessions")
      .Range(1, kMostInFlight);
  set.Add("--sessions", o.sessions, "Environment sessions open at once").Range(1, 1000000);
  set.Add("--max_tries", o.max_tries, "Times an episode is begun before it counts as failed")
      .Min(1)
      .Formerly("--tries");
  set.Add("--give_up_after", o.give_up_after, "Episodes failed in a row before the run ends")
      .Min(1);
}

struct Evaluator::Shared {
  // An episode keeps its session until its end: with fewer sessions than episodes they would only
  // take them from one another, and replay.
  Shared(size_t episodes, std::atomic<bool>& stop_flag, Environment& environment,
         const EvaluatorOptions& options)
      : stop(stop_flag),
        queue(episodes, std::min(options.episodes_in_flight, options.sessions),
              options.give_up_after, stop_flag),
        pool(environment, options.sessions),
        progress("episodes", "turns", static_cast<int64_t>(episodes)) {}

  std::atomic<bool>& stop;
  WorkQueue queue;
  SessionPool pool;
  Progress progress;

  std::mutex mutex;
  EvaluatorReport report;  // guarded by mutex
  double rewards = 0;      // guarded by mutex; of the written episodes
};

Evaluator::Evaluator(const TaskFamily& family, Environment& environment, LanguageModel& model,
                     EpisodeStore& store, const PlayOptions& play, const EvaluatorOptions& options)
    : family_(family),
      environment_(environment),
      model_(model),
      store_(store),
      play_(play),
      options_(options) {}

EvaluatorReport Evaluator::Run(const std::vector<EpisodeStart>& starts, std::atomic<bool>& stop) {
  const auto begin = std::chrono::steady_clock::now();
  Shared shared(starts.size(), stop, environment_, options_);
  shared.queue.Run([&](size_t index) {
    const EpisodeStart& start = starts[index];
    const Claim claim = store_.TryClaim(start.task, start.attempt);
    if (claim == Claim::kMine) return PlayAndKeep(start, shared);
    shared.progress.Skipped();
    const std::lock_guard lock(shared.mutex);
    ++(claim == Claim::kDone ? shared.report.skipped : shared.report.taken);
  });
  EvaluatorReport report = std::move(shared.report);
  report.execution.opens += shared.pool.opened();
  report.gave_up = shared.queue.gave_up();
  const size_t tried =
      static_cast<size_t>(report.finished + report.skipped + report.taken) + report.failed.size();
  report.interrupted = stop && !report.gave_up && tried < starts.size();
  std::ranges::sort(report.failed, {}, [](const Episode& episode) {
    return std::tuple(episode.task, episode.attempt);
  });
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

void Evaluator::PlayAndKeep(const EpisodeStart& start, Shared& shared) {
  Result<Episode> episode = PlayOnce(start, shared);
  for (int next = 1; next < options_.max_tries && episode && !HasResult(episode->end); ++next) {
    spdlog::debug("task {}: {}; try {}", start.task, episode->error, next + 1);
    episode = PlayOnce(start, shared);
  }
  if (episode && HasResult(episode->end)) return Keep(*episode, shared);
  store_.Release(start.task, start.attempt);
  if (episode) CountFailure(std::move(*episode), shared);
}

Result<Episode> Evaluator::PlayOnce(const EpisodeStart& start, Shared& shared) {
  // There is one line of play and nothing to fork: a session that goes forward costs a reset and a
  // step per turn.
  ReplayExecutor executor(start.task, shared.pool, family_, shared.stop);
  EpisodePlayer player(
      play_, start, {family_, model_, executor, shared.stop, [&] { shared.progress.AddUnits(1); }});
  Result<Episode> episode = player.Run();
  const std::lock_guard lock(shared.mutex);
  if (episode) shared.report.usage += episode->usage;
  shared.report.execution += executor.stats();
  return episode;
}

void Evaluator::Keep(const Episode& episode, Shared& shared) {
  store_.Commit(episode);
  shared.progress.Done();
  shared.queue.Succeeded();
  const std::lock_guard lock(shared.mutex);
  ++shared.report.finished;
  shared.report.turns += static_cast<int64_t>(episode.turns.size());
  shared.rewards += episode.reward;
  shared.progress.Note(fmt::format("mean reward {:.3f}", shared.rewards / shared.report.finished));
}

void Evaluator::CountFailure(Episode episode, Shared& shared) {
  spdlog::warn("task {} failed ({}): {}", episode.task, Name(episode.end), episode.error);
  shared.progress.Failed();
  shared.queue.Failed();
  const std::lock_guard lock(shared.mutex);
  shared.report.failed.push_back(std::move(episode));
}

}  // namespace agentr
