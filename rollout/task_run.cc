#include "rollout/task_run.h"

#include <chrono>
#include <utility>

#include "common/clock.h"

namespace agentr {

TaskRun::TaskRun(size_t items, const ParallelismOptions& options, Environment& environment,
                 std::atomic<bool>& stop, const char* what, const char* units)
    : items_(items),
      max_tries_(options.max_tries),
      stop_(stop),
      queue_(items, options.in_flight, options.give_up_after, stop),
      sessions_(environment, options.sessions),
      progress_(what, units, static_cast<int64_t>(items)) {
  if (options.metrics_port == 0) return;
  metrics_ = std::make_unique<RunMetrics>(options.metrics_port, [this, what, units] {
    const ProgressState state = progress_.Now();
    const std::lock_guard lock(mutex_);
    return MetricsText(what, units, state, report_);
  });
}

void TaskRun::Run(const std::function<Claim(size_t)>& claim,
                  const std::function<bool(size_t)>& work) {
  const auto begin = std::chrono::steady_clock::now();
  queue_.Run([&](size_t item) {
    const Claim claimed = claim(item);
    if (claimed == Claim::kLater || (claimed == Claim::kMine && !work(item))) {
      return queue_.PutBack(item);
    }
    if (claimed == Claim::kMine) return;
    progress_.Skipped();
    const std::lock_guard lock(mutex_);
    ++(claimed == Claim::kDone ? report_.skipped : report_.taken);
  });
  report_.wall_s = SecondsSince(begin);
}

void TaskRun::AddCost(const Usage& usage, const ExecutionStats& execution) {
  const std::lock_guard lock(mutex_);
  report_.usage += usage;
  report_.execution += execution;
}

void TaskRun::Finished() {
  progress_.Done();
  queue_.Succeeded();
  const std::lock_guard lock(mutex_);
  ++report_.finished;
}

bool TaskRun::Failed(ErrorKind kind) {
  const std::lock_guard lock(mutex_);
  if (kind != ErrorKind::kMalformed) {
    queue_.Failed();
  } else if (!std::exchange(report_.malformed, true)) {
    queue_.GiveUp();
  } else {
    return false;
  }
  progress_.Failed();
  ++failed_;
  // A run in which every failure is a missing server ends with another exit code.
  if (kind != ErrorKind::kUnreachable && kind != ErrorKind::kTimeout) only_unreachable_ = false;
  return true;
}

bool TaskRun::TryAgain(ErrorKind kind, int tries) const {
  return kind == ErrorKind::kEnvironment && tries < max_tries_ && !stop_;
}

RunReport TaskRun::TakeReport() {
  report_.execution.opens += sessions_.opened();
  report_.cut_turns = cut_turns_.count();
  report_.gave_up = queue_.gave_up();
  report_.unreachable = failed_ > 0 && report_.finished == 0 && only_unreachable_;
  const size_t tried =
      static_cast<size_t>(report_.finished + report_.skipped + report_.taken) + failed_;
  report_.interrupted = stop_ && !report_.gave_up && tried < items_;
  return std::move(report_);
}

}  // namespace agentr
