// Runs the searches of many tasks at once (mcts/work_queue.h).
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "clients/environment.h"
#include "clients/language_model.h"
#include "common/progress.h"
#include "mcts/search.h"
#include "mcts/tree_store.h"
#include "rollout/run_report.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

struct CollectorOptions {
  int trees_in_flight = 32;
  int sessions = 256;      // environment sessions open at once, where the server cannot fork
  int max_tries = 3;       // searches of a task before it counts as failed
  int give_up_after = 20;  // tasks failed in a row before the run ends
};

void Declare(OptionSet& set, CollectorOptions& options);

struct FailedTask {
  int task = 0;
  Error error;
};

struct CollectReport : RunReport {
  std::vector<FailedTask> failed;  // in the order of the ids
  int64_t nodes = 0;               // of the written trees
};

class Collector {
 public:
  // All references outlive the collector. `origin`: family, model, data hash of the trees.
  Collector(const TaskFamily& family, Environment& environment, LanguageModel& model,
            TreeStore& store, const SearchOptions& search, const CollectorOptions& options,
            TreeOrigin origin);

  // Searches `tasks` in order. Set `stop` to end early: trees in flight are given up. Throws
  // FatalError when a tree cannot be written.
  CollectReport Run(const std::vector<int>& tasks, std::atomic<bool>& stop);

 private:
  struct Shared;  // what the workers of one Run share
  void Work(int task, Shared& shared);
  void RunTask(int task, Shared& shared);
  void Keep(const Tree& tree, Shared& shared);
  void CountFailure(int task, const Error& error, Shared& shared);
  Result<Tree> SearchOnce(int task, Shared& shared);

  const TaskFamily& family_;
  Environment& environment_;
  LanguageModel& model_;
  TreeStore& store_;
  const SearchOptions search_;
  const CollectorOptions options_;
  const TreeOrigin origin_;
};

}  // namespace agentr
