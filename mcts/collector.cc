#include "mcts/collector.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "rollout/task_run.h"

namespace agentr {

struct Collector::Shared {
  Shared(size_t tasks, std::atomic<bool>& stop, Environment& environment,
         const ParallelismOptions& options)
      : run(tasks, options, environment, stop, "trees", "nodes") {}

  TaskRun run;

  std::mutex mutex;
  std::vector<FailedTask> failed;  // guarded by mutex
  int64_t nodes = 0;               // guarded by mutex
};

Collector::Collector(const TaskFamily& family, Environment& environment, LanguageModel& model,
                     TreeStore& store, const SearchOptions& search,
                     const ParallelismOptions& options, TreeOrigin origin, ValueModel* values)
    : family_(family),
      environment_(environment),
      model_(model),
      store_(store),
      search_(search),
      options_(options),
      origin_(std::move(origin)),
      values_(values) {}

CollectReport Collector::Run(const std::vector<int>& tasks, std::atomic<bool>& stop) {
  Shared shared(tasks.size(), stop, environment_, options_);
  shared.run.Run([&](size_t index) { return store_.TryClaim(tasks[index]); },
                 [&](size_t index) { return RunTask(tasks[index], shared); });
  CollectReport report;
  static_cast<RunReport&>(report) = shared.run.TakeReport();
  report.failed = std::move(shared.failed);
  report.nodes = shared.nodes;
  std::ranges::sort(report.failed, {}, &FailedTask::task_id);
  return report;
}

bool Collector::RunTask(int task_id, Shared& shared) {
  Result<Tree> tree = SearchOnce(task_id, shared);
  for (int tries = 1; !tree && shared.run.TryAgain(tree.error().kind, tries); ++tries) {
    spdlog::debug("task {}: {}; try {}", task_id, tree.error().message, tries + 1);
    tree = SearchOnce(task_id, shared);
  }
  if (tree) {
    if (!store_.Commit(*tree)) return false;
    shared.run.Finished();
    const std::lock_guard lock(shared.mutex);
    shared.nodes += tree->size();
    return true;
  }
  const Error& error = tree.error();
  // Not a failure: the next run of the command searches the task again.
  const bool given_up = error.kind == ErrorKind::kCancelled;
  store_.Release(task_id, given_up ? "" : error.message);
  if (given_up) return true;
  spdlog::warn("task {} failed ({}): {}", task_id, Name(error.kind), error.message);
  shared.run.Failed(error.kind);
  const std::lock_guard lock(shared.mutex);
  shared.failed.push_back({task_id, error});
  return true;
}

Result<Tree> Collector::SearchOnce(int task_id, Shared& shared) {
  TaskRun& run = shared.run;
  const std::unique_ptr<Executor> executor =
      MakeExecutor(task_id, environment_, run.sessions(), family_, run.stop());
  TreeOrigin origin = origin_;
  origin.task_id = task_id;
  origin.search = ToJson(search_);
  Search search(search_, std::move(origin),
                {family_, model_, *executor, run.stop(),
                 [&](int nodes) { run.progress().AddUnits(nodes); }, values_});
  Result<Tree> tree = search.Run();
  run.AddCost(search.usage(), executor->stats());
  return tree;
}

}  // namespace agentr
