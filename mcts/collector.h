// Runs the searches of many tasks at once (rollout/task_run.h).
#pragma once

#include <atomic>
#include <vector>

#include "clients/environment.h"
#include "clients/language_model.h"
#include "mcts/search.h"
#include "mcts/tree_store.h"
#include "rollout/run_options.h"
#include "rollout/run_report.h"
#include "tasks/task_family.h"

namespace agentr {

struct FailedTask {
  int task_id = 0;
  Error error;
};

struct CollectReport : RunReport {
  std::vector<FailedTask> failed;  // by task id
  int64_t nodes = 0;               // of the written trees
  int64_t successes = 0;           // written trees with a successful episode
  int64_t nodes_to_success = 0;    // their sum of Search::nodes_to_success
};

class Collector {
 public:
  // All references outlive the collector. `origin` gives family, model and data hash of the trees.
  Collector(const TaskFamily& family, Environment& environment, LanguageModel& model,
            TreeStore& store, const SearchOptions& search, const ParallelismOptions& options,
            TreeOrigin origin);

  // Searches `tasks` in order. Set `stop` to end early: trees in flight are given up. Throws
  // FatalError when a tree cannot be written.
  CollectReport Run(const std::vector<int>& tasks, std::atomic<bool>& stop);

 private:
  struct Shared;  // the state that the workers of one Run share
  // False if the task was lost to another worker.
  bool RunTask(int task_id, Shared& shared);
  struct Found {
    Tree tree;
    int nodes_to_success = 0;
  };
  Result<Found> SearchOnce(int task_id, Shared& shared);

  const TaskFamily& family_;
  Environment& environment_;
  LanguageModel& model_;
  TreeStore& store_;
  const SearchOptions search_;
  const ParallelismOptions options_;
  TreeOrigin origin_;  // without a task
};

}  // namespace agentr
