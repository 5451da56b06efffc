#include "mcts/collector.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "common/options.h"

namespace agentr {
namespace {
constexpr size_t kMostTreesInFlight = 4096;
}  // namespace

void Declare(OptionSet& set, CollectorOptions& o) {
  set.Group("Parallelism");
  set.Add("--trees_in_flight", o.trees_in_flight, "Trees searched at once (waiting holds no core)")
      .Range(1, kMostTreesInFlight);
  set.Add("--sessions", o.sessions,
          "Environment sessions open at once, on servers without /expand")
      .Range(1, 1000000);
  set.Add("--task_attempts", o.task_attempts, "Searches of a task before it counts as failed")
      .Min(1);
  set.Add("--give_up_after", o.give_up_after, "Tasks failed in a row before the run ends").Min(1);
}

struct Collector::Shared {
  Shared(const std::vector<int>& all, std::atomic<bool>& stop_flag, Environment& environment,
         int sessions)
      : tasks(all), stop(stop_flag), pool(environment, sessions),
        progress("trees", "nodes", static_cast<int64_t>(all.size())) {}

  const std::vector<int>& tasks;
  std::atomic<bool>& stop;
  std::atomic<size_t> next = 0;  // index into tasks
  SessionPool pool;
  Progress progress;

  std::mutex mutex;
  CollectReport report;      // guarded by mutex
  int failures_in_a_row = 0;  // guarded by mutex
};

Collector::Collector(const TaskFamily& family, Environment& environment, LanguageModel& model,
                     TreeStore& store, const SearchOptions& search,
                     const CollectorOptions& options, TreeOrigin origin)
    : family_(family), environment_(environment), model_(model), store_(store), search_(search),
      options_(options), origin_(std::move(origin)) {}

CollectReport Collector::Run(const std::vector<int>& tasks, std::atomic<bool>& stop) {
  const auto begin = std::chrono::steady_clock::now();
  Shared shared(tasks, stop, environment_, options_.sessions);
  const auto width = static_cast<size_t>(options_.trees_in_flight);
  // TBB fixes how many threads it may ever make when it is first used; the arena bounds a run.
  static const oneapi::tbb::global_control threads(
      oneapi::tbb::global_control::max_allowed_parallelism, kMostTreesInFlight + 1);
  oneapi::tbb::task_arena arena(options_.trees_in_flight);
  arena.execute([&] {
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<size_t>(0, width, 1),
        [&](const auto&) { WorkOrStopAll(shared); },
        oneapi::tbb::simple_partitioner());
  });
  CollectReport report = std::move(shared.report);
  report.execution.opens += shared.pool.opened();
  const size_t tried = static_cast<size_t>(report.finished + report.skipped + report.elsewhere) +
                       report.failed.size();
  report.interrupted = stop && !report.gave_up && tried < tasks.size();
  std::ranges::sort(report.failed, {}, &FailedTask::task);
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

void Collector::WorkOrStopAll(Shared& shared) {
  try {
    Work(shared);
  } catch (...) {
    // The disk is full, say: no other tree would fare better.
    shared.stop = true;
    throw;
  }
}

void Collector::Work(Shared& shared) {
  while (!shared.stop) {
    const size_t index = shared.next++;
    if (index >= shared.tasks.size()) return;
    const int task = shared.tasks[index];
    const Claim claim = store_.TryClaim(task);
    if (claim == Claim::kMine) {
      RunTask(task, shared);
      continue;
    }
    shared.progress.Done();
    const std::lock_guard lock(shared.mutex);
    ++(claim == Claim::kDone ? shared.report.skipped : shared.report.elsewhere);
  }
}

void Collector::RunTask(int task, Shared& shared) {
  Result<Tree> tree = SearchOnce(task, shared);
  for (int attempt = 1; attempt < options_.task_attempts && !tree; ++attempt) {
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
  const std::lock_guard lock(shared.mutex);
  ++shared.report.finished;
  shared.report.nodes += tree.size();
  shared.failures_in_a_row = 0;
}

void Collector::CountFailure(int task, const Error& error, Shared& shared) {
  spdlog::warn("task {} failed ({}): {}", task, Name(error.kind), error.message);
  shared.progress.Failed();
  const std::lock_guard lock(shared.mutex);
  shared.report.failed.push_back({task, error});
  if (++shared.failures_in_a_row < options_.give_up_after) return;
  shared.report.gave_up = true;
  shared.stop = true;
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
