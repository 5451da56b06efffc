// The loop that search and evaluation share: claims items of work, processes many at once, decides
// which failures to try again, and counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include "clients/environment.h"
#include "common/progress.h"
#include "common/work_claims.h"
#include "common/work_queue.h"
#include "rollout/cut_turns.h"
#include "rollout/first_responses.h"
#include "rollout/run_metrics.h"
#include "rollout/run_options.h"
#include "rollout/run_report.h"
#include "rollout/session_pool.h"

namespace agentr {

// For one call of Run. The functions that workers call are thread-safe.
class TaskRun {
 public:
  // `items`: number of items of work; `what` and `units`: for the progress line ("trees", "nodes").
  // Set `stop` to end early. Environment and `stop` outlive the run.
  TaskRun(size_t items, const ParallelismOptions& options, Environment& environment,
          std::atomic<bool>& stop, const char* what, const char* units);

  // Calls work(i) for each item i that claim(i) reserves for this run, in order, many at once. An
  // item is claimed again later if claim(i) says so, or if work(i) returns false because it lost
  // its claim. Exceptions of either are thrown again.
  void Run(const std::function<Claim(size_t)>& claim, const std::function<bool(size_t)>& work);

  // Called by `work` with the cost of a try and the end of the item.
  void AddCost(const Usage& usage, const ExecutionStats& execution);
  void Finished();
  // False if the failure is to be passed over in silence: a malformed reply ends the run, and the
  // other tasks in progress meet it too.
  bool Failed(ErrorKind kind);

  // True if an item should be tried again after `tries` tries, of which the last one ended in this
  // kind of error: only after an error of the environment itself. Other errors were already retried
  // where they happened, if that can help (CONTRIBUTING, "Retries").
  bool TryAgain(ErrorKind kind, int tries) const;

  // After Run, once.
  RunReport TakeReport();

  std::atomic<bool>& stop() { return stop_; }
  SessionPool& sessions() { return sessions_; }
  Progress& progress() { return progress_; }
  FirstResponses& first_responses() { return first_responses_; }
  CutTurns& cut_turns() { return cut_turns_; }

 private:
  const size_t items_;
  const int max_tries_;
  std::atomic<bool>& stop_;
  WorkQueue queue_;
  SessionPool sessions_;
  Progress progress_;
  FirstResponses first_responses_;
  CutTurns cut_turns_;

  std::mutex mutex_;
  RunReport report_;   // guarded by mutex_
  size_t failed_ = 0;  // guarded by mutex_
  bool only_unreachable_ =
      true;  // guarded by mutex_; all failures were of kind kUnreachable or kTimeout
  std::unique_ptr<RunMetrics> metrics_;  // last, because it reads the others
};

}  // namespace agentr
