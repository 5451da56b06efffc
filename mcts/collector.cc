#include "mcts/collector.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "rollout/task_run.h"

namespace agentr {

struct Collector::Shared {
  TaskRun run;

  std::mutex mutex = {};
  CollectReport report = {};  // failed tasks and counts of written trees; guarded by mutex
};

Collector::Collector(const TaskFamily& family, Environment& environment, LanguageModel& model,
                     TreeStore& store, const SearchOptions& search,
                     const ParallelismOptions& options, TreeOrigin origin)
    : family_(family),
      environment_(environment),
      model_(model),
      store_(store),
      search_(search),
      options_(options),
      origin_(std::move(origin)) {
  origin_.search = ToJson(search);
}

CollectReport Collector::Run(const std::vector<int>& tasks, std::atomic<bool>& stop) {
  Shared shared{{tasks.size(), options_, environment_, stop, "trees", "nodes"}};
  shared.run.Run([&](size_t index) { return store_.TryClaim(tasks[index]); },
                 [&](size_t index) { return RunTask(tasks[index], shared); });
  CollectReport report = std::move(shared.report);
  static_cast<RunReport&>(report) = shared.run.TakeReport();
  std::ranges::sort(report.failed, {}, &FailedTask::task_id);
  return report;
}

bool Collector::RunTask(int task_id, Shared& shared) {
  Result<Found> found = SearchOnce(task_id, shared);
  for (int tries = 1; !found && shared.run.TryAgain(found.error().kind, tries); ++tries) {
    spdlog::debug("task {}: {}; try {}", task_id, found.error().message, tries + 1);
    found = SearchOnce(task_id, shared);
  }
  if (found) {
    if (!store_.Commit(found->tree)) return false;
    shared.run.Finished();
    const std::lock_guard lock(shared.mutex);
    shared.report.nodes += found->tree.size();
    shared.report.successes += found->nodes_to_success > 0 ? 1 : 0;
    shared.report.nodes_to_success += found->nodes_to_success;
    return true;
  }
  const Error& error = found.error();
  // Not a failure: the next run of the command searches the task again.
  const bool given_up = error.kind == ErrorKind::kCancelled;
  store_.Release(task_id, given_up ? "" : error.message);
  if (given_up || !shared.run.Failed(error.kind)) return true;
  spdlog::warn("task {} failed ({}): {}", task_id, Name(error.kind), error.message);
  const std::lock_guard lock(shared.mutex);
  shared.report.failed.push_back({task_id, error});
  return true;
}

Result<Collector::Found> Collector::SearchOnce(int task_id, Shared& shared) {
  TaskRun& run = shared.run;
  const std::unique_ptr<Executor> executor =
      MakeExecutor(task_id, environment_, run.sessions(), family_, run.stop());
  TreeOrigin origin = origin_;
  origin.task_id = task_id;
  Search search(
      search_, std::move(origin),
      {family_, model_, *executor, run.stop(), [&](int nodes) { run.progress().AddUnits(nodes); },
       &run.first_responses(), &run.cut_turns()});
  Result<Tree> tree = search.Run();
  run.AddCost(search.usage(), executor->stats());
  if (!tree) return tl::unexpected(tree.error());
  return Found{std::move(*tree), search.nodes_to_success()};
}

}  // namespace agentr
