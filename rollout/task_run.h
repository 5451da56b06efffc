// The loop that a search and an evaluation share: claims pieces of work, does many of them at once,
// tries again what failed, and counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "clients/environment.h"
#include "common/progress.h"
#include "common/work_claims.h"
#include "common/work_queue.h"
#include "rollout/run_options.h"
#include "rollout/run_report.h"
#include "rollout/session_pool.h"

namespace agentr {

// One Run. What the workers call is thread-safe.
class TaskRun {
 public:
  // `items`: pieces of work; `what` and `units`: for the progress line ("trees", "nodes"). Set `stop`
  // to end early. Environment and `stop` outlive the run.
  TaskRun(size_t items, const ParallelismOptions& options, Environment& environment,
          std::atomic<bool>& stop, const char* what, const char* units);

  // Calls work(i) for each item i that claim(i) reserves for this run, in order, many at once.
  // Throws what they throw.
  void Run(const std::function<Claim(size_t)>& claim, const std::function<void(size_t)>& work);

  // To be told by `work`: what a try cost, and how the item ended.
  void AddCost(const Usage& usage, const ExecutionStats& execution);
  void Finished();
  void Failed(ErrorKind kind);

  // True if an item whose `tries` tries so far ended in an error of this kind is worth another one:
  // an error of the environment itself. All others have been made up for where they happened, as far
  // as they can be (CONTRIBUTING, "Retries").
  bool TryAgain(ErrorKind kind, int tries) const;

  // After Run, once.
  RunReport TakeReport();

  std::atomic<bool>& stop() { return stop_; }
  SessionPool& sessions() { return sessions_; }
  Progress& progress() { return progress_; }

 private:
  const size_t items_;
  const int max_tries_;
  std::atomic<bool>& stop_;
  WorkQueue queue_;
  SessionPool sessions_;
  Progress progress_;

  std::mutex mutex_;
  RunReport report_;   // guarded by mutex_
  size_t failed_ = 0;  // guarded by mutex_
  bool only_unreachable_ =
      true;  // guarded by mutex_; all failures were of kind kUnreachable or kTimeout
};

}  // namespace agentr
