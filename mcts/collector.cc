#include "mcts/collector.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "common/options.h"
#include "common/work_queue.h"

namespace agentr {

void Declare(OptionSet& set, CollectorOptions& o) {
  set.Group("Parallelism");
  set.Add("--trees_in_flight", o.trees_in_flight, "Trees searched at once (waiting holds no core)")
      .Range(1, kMostInFlight);
  set.Add("--sessions", o.sessions, "Environment sessions open at once, on servers without /expand")
      .Range(1, 1000000);
  set.Add("--max_tries", o.max_tries, "Searches of a task before it counts as failed")
      .Min(1)
      .Formerly("--task_attempts");
  set.Add("--give_up_after", o.give_up_after, "Tasks failed in a row before the run ends").Min(1);
}

struct Collector::Shared {
  Shared(size_t tasks, std::atomic<bool>& stop_flag, Environment& environment,
         const CollectorOptions& options)
      : stop(stop_flag),
        queue(tasks, options.trees_in_flight, options.give_up_after, stop_flag),
        pool(environment, options.sessions),
        progress("trees", "nodes", static_cast<int64_t>(tasks)) {}

  std::atomic<bool>& stop;
  WorkQueue queue;
  SessionPool pool;
  Progress progress;

  std::mutex mutex;
  CollectReport report;  // guarded by mutex
};

Collector::Collector(const TaskFamily& family, Environment& environment, LanguageModel& model,
                     TreeStore& store, const SearchOptions& search, const CollectorOptions& options,
                     TreeOrigin origin)
    : family_(family),
      environment_(environment),
      model_(model),
      store_(store),
      search_(search),
      options_(options),
      origin_(std::move(origin)) {}

CollectReport Collector::Run(const std::vector<int>& tasks, std::atomic<bool>& stop) {
  const auto begin = std::chrono::steady_clock::now();
  Shared shared(tasks.size(), stop, environment_, options_);
  shared.queue.Run([&](size_t index) { Work(tasks[index], shared); });
  CollectReport report = std::move(shared.report);
  report.execution.opens += shared.pool.opened();
  report.gave_up = shared.queue.gave_up();
  const size_t tried =
      static_cast<size_t>(report.finished + report.skipped + report.taken) + report.failed.size();
  report.interrupted = stop && !report.gave_up && tried < tasks.size();
  std::ranges::sort(report.failed, {}, &FailedTask::task);
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

void Collector::Work(int task, Shared& shared) {
  const Claim claim = store_.TryClaim(task);
  if (claim == Claim::kMine) return RunTask(task, shared);
  shared.progress.Skipped();
  const std::lock_guard lock(shared.mutex);
  ++(claim == Claim::kDone ? shared.report.skipped : shared.report.taken);
}

void Collector::RunTask(int task, Shared& shared) {
  Result<Tree> tree = SearchOnce(task, shared);
  for (int attempt = 1; attempt < options_.max_tries && !tree; ++attempt) {
    if (tree.error().kind == ErrorKind::kCancelled) break;
    spdlog::debug("task {}: {}; attempt {}", task, tree.error().message, attempt + 1);
    tree = SearchOnce(task, shared);
  }
  if (tree) {
    Keep(*tree, shared);
  } else {
    store_.Release(task);
    if (tree.error().kind != ErrorKind::kCancelled) CountFailure(task, tree.error(), shared);
  }
}

void Collector::Keep(const Tree& tree, Shared& shared) {
  store_.Commit(tree);
  shared.progress.Done();
  shared.queue.Succeeded();
  const std::lock_guard lock(shared.mutex);
  ++shared.report.finished;
  shared.report.nodes += tree.size();
}

void Collector::CountFailure(int task, const Error& error, Shared& shared) {
  spdlog::warn("task {} failed ({}): {}", task, Name(error.kind), error.message);
  shared.progress.Failed();
  shared.queue.Failed();
  const std::lock_guard lock(shared.mutex);
  shared.report.failed.push_back({task, error});
}

Result<Tree> Collector::SearchOnce(int task, Shared& shared) {
  const std::unique_ptr<Executor> executor =
      MakeExecutor(task, environment_, shared.pool, family_, shared.stop);
  TreeOrigin origin = origin_;
  origin.task = task;
  origin.search = ToJson(search_);
  Search search(search_, std::move(origin),
                {family_, model_, *executor, shared.stop,
                 [&](int nodes) { shared.progress.AddUnits(nodes); }});
  Result<Tree> tree = search.Run();
  const std::lock_guard lock(shared.mutex);
  shared.report.usage += search.usage();
  shared.report.execution += executor->stats();
  return tree;
}

}  // namespace agentr
